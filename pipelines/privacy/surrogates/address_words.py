"""Words of postal addresses: types of streets, which stay, and invented streets and towns, by language."""

from __future__ import annotations

from collections.abc import Mapping

_KEPT = {
    "en": """
street st avenue ave road rd lane ln drive dr court ct boulevard blvd place pl square sq way terrace close
crescent highway hwy parkway pkwy circle cir trail row mews apt apartment suite ste unit floor fl flat building
bldg room rm po box north south east west n s e w ne nw se sw upper lower usa uk united states kingdom
""",
    "de": """
straße strasse str weg platz gasse allee ring damm ufer chaussee steig hof haus wohnung etage stock am an im in
der die dem den zum zur auf unter deutschland österreich schweiz
""",
    "fr": """
rue avenue boulevard place chemin impasse allée allee quai cours route square passage bis ter bâtiment batiment
appartement étage etage de du des la le les l d cedex france
""",
    "es": """
calle c avenida avda av plaza paseo camino carretera ronda travesía pasaje piso puerta portal izquierda derecha
esc de del la las los el número núm nº españa méxico
""",
    "it": "via viale piazza corso largo vicolo strada piazzale interno scala piano n de di del della dei delle italia",
    "pt": """
rua avenida av praça praca travessa largo alameda estrada rodovia bloco apto apartamento andar nº de da do das
dos portugal brasil
""",
    "nl": "straat laan weg plein gracht kade dijk singel hof postbus bus van de het der den nederland belgië",
    "pl": "ulica ul aleja al plac pl osiedle os m mieszkanie lok polska",
}
KEPT: Mapping[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _KEPT.items()}
"""Words that say what a part of an address is, or that link; they stay."""

GLUED_TYPES = (
    "straße", "strasse", "str", "gasse", "allee", "platz", "weg", "damm", "ring", "ufer",
    "straat", "laan", "plein", "gracht", "kade", "dijk", "singel",
)  # fmt: skip
"""Ends of German and Dutch street names that are written as one word."""

_STREETS = {
    "en": """
Alderwood Amberley Beechmont Bramble Briarwood Brookfield Cedar Chestnut Clover Copperfield Elmhurst Fernhill
Foxglove Glenwood Hawthorn Hazel Heather Hillcrest Juniper Larkspur Laurel Lindenwood Maplewood Meadow Millbrook
Oakridge Orchard Pinecrest Primrose Rowan Sycamore Thistle Valley Willowbrook
""",
    "de": """
Ahorn Amsel Birken Buchen Distel Drossel Eichen Erlen Eschen Falken Feld Finken Flieder Ginster Hasel Kastanien
Kiefern Lerchen Linden Mohn Mühlen Nelken Pappel Rosen Schwalben Sonnen Tannen Ulmen Veilchen Wald Weiden Wiesen
""",
    "fr": """
Acacias Amandiers Aubépines Bleuets Bruyères Capucines Cèdres Cerisiers Châtaigniers Chênes Coquelicots
Églantiers Érables Fougères Genêts Glycines Hêtres Iris Lavandes Lilas Marronniers Mésanges Mimosas Noisetiers
Oliviers Ormes Peupliers Platanes Saules Tilleuls Tulipes Vergers
""",
    "es": """
Abedules Acacias Alamedas Álamos Almendros Amapolas Arces Avellanos Azucenas Camelias Castaños Cerezos Cipreses
Encinas Fresnos Geranios Girasoles Jazmines Laureles Limoneros Lirios Magnolias Manzanos Naranjos Nogales Olivos
Olmos Palmeras Pinares Robles Rosales Sauces
""",
    "it": """
Acacie Aceri Betulle Biancospini Castagni Cedri Ciclamini Ciliegi Cipressi Faggi Frassini Gelsi Gelsomini
Ginepri Ginestre Giunchi Larici Lavande Lecci Magnolie Mandorli Mimose Mughetti Noccioli Olmi Pini Pioppi Querce
Roveri Salici Tigli Ulivi
""",
    "pt": """
Acácias Álamos Alecrins Amendoeiras Azáleas Bordos Camélias Carvalhos Castanheiros Cedros Cerejeiras Ciprestes
Dálias Faias Figueiras Freixos Girassóis Hortênsias Ipês Jacarandás Jasmins Laranjeiras Limoeiros Lírios
Loureiros Magnólias Oliveiras Orquídeas Palmeiras Pinheiros Salgueiros Tílias
""",
    "nl": """
Acacia Beuken Berken Brem Dennen Distel Duizendblad Eiken Elzen Essen Fazanten Gladiolen Goudenregen Hazelaar
Hulst Iepen Jasmijn Kastanje Klaver Leeuwerik Linden Lijster Meidoorn Merel Narcis Populieren Ratelaar Rozen
Sparren Tulpen Vlier Wilgen
""",
    "pl": """
Akacjowa Bzowa Brzozowa Bukowa Cedrowa Chabrowa Cisowa Czereśniowa Dębowa Fiołkowa Grabowa Irysowa Jabłoniowa
Jarzębinowa Jaśminowa Jesionowa Jodłowa Kalinowa Kasztanowa Klonowa Konwaliowa Krokusowa Leszczynowa Lipowa
Makowa Modrzewiowa Olchowa Piwoniowa Sosnowa Świerkowa Topolowa Wierzbowa
""",
}
STREETS: Mapping[str, tuple[str, ...]] = {language: tuple(words.split()) for language, words in _STREETS.items()}

_TOWNS = {
    "en": """
Ashcombe Brackenford Caldmere Dunwick Eastmarsh Fairholt Glenbury Harrowmere Inverleigh Kestrelton Larkhaven
Merrowdale Northbeck Oakhampton Pinehurst Quarrington Ravensholm Silverford Thornbeck Westerfield
""",
    "de": """
Altenrode Birkenhagen Dornfelde Eichenau Falkenrode Grünwalde Hohenbrück Immenrode Kaltenfeld Lindenroda
Moorhagen Neuenfelde Oberlinden Rabenau Sonnenrode Tannhagen Unterbruch Weidenroda
""",
    "fr": """
Aubreville Belmontel Chantelle Durmont Essartel Fontbrune Grandval Hauterel Lavernay Montclair Noirval Orsanne
Pierreval Rochebrune Sablonne Tourvel Valmarie Verlanges
""",
    "es": """
Alcorena Belmonte Castrovega Doralba Fuentelar Guadaira Hontanares Lagunilla Montealba Navalera Olmedilla
Peñalta Quintanar Ribalta Sotoluna Torrealba Valdemora Villarena
""",
    "it": """
Acquabruna Belcolle Castelvero Fontanara Grandolmo Montelago Olivara Pietrabella Roccaverde Sassolungo Terralba
Torrescura Vallefiore Verdemonte Villaserra
""",
    "pt": """
Águas Altamira Belmonte Campoverde Fontelar Lagoinha Montalto Olival Pedralva Ribalta Serralta Valbom Vilarinho
Vilaverde
""",
    "nl": """
Achterveld Beukendam Dennewoude Eikenburg Heidelo Kromwijk Lindenhaven Meerwoude Nieuwbeek Oosterloo Rietdam
Sparrendam Westerbeek Zandhoven
""",
    "pl": """
Borowina Dębogóra Gajowo Jasienica Kalinowo Lipowiec Modrzewina Nowodwór Olszyna Podlesie Rudawka Sosnowo
Wierzbno Zalesie
""",
}
TOWNS: Mapping[str, tuple[str, ...]] = {language: tuple(words.split()) for language, words in _TOWNS.items()}

"""Dutch names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

DUTCH = ChatLanguage(
    "nl",
    given=words("Bauke Cunera Durk Eelkje Froukje Godelief Hille Ysbrand Jorrit Klazien Lubbert Meinte Okke Pieterjan Roelofje Sjoukje Tjeerd Ubbo Wiebrigje Ybeltje Zwaantje Harmke"),
    family=joined("Wilgen Zand Eiken Hoogen Ruijs", "kampstra bergsema dijkhof horstink veldema") + ("van der Wielingen", "ter Braakhorst", "de Groenlander"),
    streets=("Lijsterbeslaan", "Oude Havenkade", "Korenbloemstraat", "Zuidersingel", "Achter de Molen", "Spinnerijweg", "Kerkplein"),
    cities=("Deventer", "Hoorn", "Sittard", "Mechelen", "Assen", "Vlissingen"),
    postcodes=("#### KD", "####TX"),
    addresses=("{street} {number}, {postcode} {city}", "{street} {number}-{unit}, {postcode} {city}", "{street} {number} in {city}"),
    phones=("010 123 4567", "+31 10 123 4567", "06-12345678", "0031 6 12345678", "010-1234567"),
    national_id="NL",
    dates=("%d-%m-%Y", "%d @ %Y"),
    months=months("januari februari maart april mei juni juli augustus september oktober november december"),
    at_and_dot=("apenstaartje", "punt"),
    told=(
        "Hoi, met [[full]], ik woon op [[address]] en mijn pakket is weg.",
        "ik ben [[lower]], bel me op [[phone]]",
        "Schrijf een brief aan mevrouw [[other_family]], ondertekend door [[full]].",
        "Mijn BSN is [[national_id]] en ik ben geboren op [[birth_date]].",
        "Maak het over naar [[iban]] ten name van [[full]].",
        "De creditcard [[card]] is twee keer belast.",
        "Antwoord naar [[email]] of naar [[spelled_email]].",
        "[[other]] zegt dat [[given]] de rekening al heeft betaald.",
        "Gebruikersnaam: [[username]], wachtwoord: [[password]], maar ik kom er niet in.",
        "DOSSIER VAN [[caps]], TERUGBELLEN OP [[phone]]",
        "Paspoort [[passport]], kenteken [[plate]].",
        "Dokter [[other_family]] heeft [[other_given]] gisteren gezien.",
        "De server [[ip]] doet het niet.",
        "Ik heb de sleutel [[api_key]] gelekt, op het forum heet ik [[handle]].",
    ),
    replies=(
        "Dank je, [[given]]. Ik heb [[phone]] genoteerd.",
        "De bevestiging gaat naar [[email]], meneer [[family]].",
        "Het pakket van [[full]] gaat naar [[address]].",
    ),
    neutral=(
        ("Waarom drijft een boot van staal?", "Omdat hij meer water verplaatst dan hij zelf weegt."),
        ("Wat is de ziekte van Lyme?", "Een infectie die door teken wordt overgebracht."),
        ("Hoe bak ik pannenkoeken?", "Meng bloem, melk en eieren en bak ze in een hete pan."),
        ("Leefde Rembrandt eerder dan Van Gogh?", "Ja, ruim twee eeuwen."),
        ("Leg het verschil uit tussen weer en klimaat.", "Weer is vandaag, klimaat is het gemiddelde van vele jaren."),
    ),
)  # fmt: skip

"""German names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

GERMAN = ChatLanguage(
    "de",
    given=words("Gotelind Wieland Leberecht Hartwin Sieglind Adelgund Burgl Frowin Gerlinde Radegund Swanhild Thassilo Ulfried Walpurga Yorick Zensi Alrun Dietlind Eginhard Folkhard"),
    family=joined("Birken Wolken Hasel Eisen Rauten Kupfer Falken Grauen", "reuther kofler brink thaler hauser-Voss stätter") + words("Löwenzahner Müßiggang Süßenbrunner Dörflinger-Kahn"),
    streets=("Am Alten Schlachthof", "Kirschgartenweg", "Töpferstraße", "Gerberallee", "Uhlenhorster Weg", "Schillerpromenade", "Brückenstr.", "Hinter der Mühle", "Rosskastanienring", "Lerchenfeldgasse"),
    cities=("Paderborn", "Ravensburg", "Cottbus", "Graz", "Winterthur", "Celle", "Görlitz"),
    postcodes=("#####",),
    addresses=("{street} {number}, {postcode} {city}", "{street} {number}\n{postcode} {city}", "{street} {number} in {postcode} {city}"),
    phones=("030 23125 ###", "+49 30 23125 ###", "0221/4710-###", "+49 (0)221 4710 ###", "069 90009 ###", "0049 89 99998 ###"),
    national_id="DE",
    dates=("%d.%m.%Y", "%d. @ %Y"),
    months=months("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
    at_and_dot=("ät", "punkt"),
    told=(
        "Moin, hier schreibt [[full]]. Das Paket soll bitte an [[address]] gehen.",
        "ich heiße [[lower]] und warte seit wochen auf mein geld",
        "Können Sie Frau [[other_family]] ausrichten, dass ich unter [[phone]] erreichbar bin?",
        "Schreib eine Kündigung für den Vertrag von [[full]], wohnhaft [[address]], geboren am [[birth_date]].",
        "Meine Steuer-ID lautet [[national_id]], die IBAN ist [[iban]].",
        "Das Passwort: [[password]] klappt nicht mehr, der Benutzername: [[username]] schon.",
        "Bitte an [[email]] antworten, nicht an [[spelled_email]].",
        "[[other]] hat gesagt, dass [[given]] die Rechnung schon bezahlt hat. Formuliere das höflicher.",
        "HERR [[caps]] BITTE ZUM SCHALTER, RÜCKRUF [[phone]]",
        "Die Karte [[card]] wurde zweimal belastet.",
        "Reisepass [[passport]], Kennzeichen [[plate]], sonst noch etwas?",
        "Der Rechner mit der Adresse [[ip]] gehört [[other]].",
        "Wer ist [[handle]]? Ist das [[other_given]]?",
        "Mein Schlüssel [[api_key]] steht leider im Repository.",
        "Patient [[reverse]], geb. [[birth_date]], klagt über Schwindel. Hausarzt ist Dr. [[other_family]].",
    ),
    replies=(
        "Vielen Dank, Frau [[family]]. Ich habe [[phone]] notiert.",
        "Die Bestätigung geht an [[email]].",
        "Wir liefern an [[address]], Empfänger ist [[full]].",
        "Guten Tag [[given]], das erledige ich gern.",
    ),
    neutral=(
        ("Warum ist der Himmel abends rot?", "Das Licht hat dann den längeren Weg durch die Luft, und das Blau wird herausgestreut."),
        ("Was bedeutet Morbus Crohn, und wie spricht man Alzheimer aus?", "Morbus Crohn ist eine Entzündung des Darms. Bei Alzheimer liegt die Betonung auf der ersten Silbe."),
        ("Erkläre mir den Unterschied zwischen Dativ und Akkusativ.", "Der Dativ fragt nach wem, der Akkusativ nach wen oder was."),
        ("Wie backe ich einen Hefezopf?", "Mehl, Milch, Hefe und Butter kneten, eine Stunde gehen lassen, flechten und backen."),
        ("Lohnt sich Kafka für kleine Datenmengen?", "Selten; eine Tabelle mit Warteschlange genügt meist."),
        ("Nenne drei Flüsse, die in die Nordsee fließen.", "Elbe, Weser und Ems."),
    ),
)  # fmt: skip

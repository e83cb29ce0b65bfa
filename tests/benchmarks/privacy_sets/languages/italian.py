"""Italian names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

ITALIAN = ChatLanguage(
    "it",
    given=words("Ermenegilda Guendalina Ottorina Sveva Tiburzio Ubalda Venanzio Bibiana Crispino Diomira Eustachio Filiberta Gelsomina Leonzio Primetta"),
    family=joined("Castel Mont Bell Ros Sant Fior", "aldini erucci asoli ighetti omarelli") + ("D'Ambrogetti", "Dell'Orsinella", "Lo Verdina"),
    streets=("via dei Conciatori", "viale delle Magnolie", "piazza del Grano", "vicolo Stretto", "corso dei Mille Passi", "via Fontevecchia", "largo della Fornace"),
    cities=("Cremona", "Potenza", "Lecce", "Novara", "Viterbo", "Belluno"),
    postcodes=("#####",),
    addresses=("{street} {number}, {postcode} {city}", "{street}, {number} - {postcode} {city}", "{street} n. {number}, {city}"),
    phones=("+39 312 345 6789", "312 3456789", "02 1234 5678", "0039 02 12345678", "+39 02 1234 5678"),
    national_id="IT",
    dates=("%d/%m/%Y", "%d @ %Y"),
    months=months("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
    at_and_dot=("chiocciola", "punto"),
    told=(
        "Salve, mi chiamo [[full]] e abito in [[address]].",
        "sono [[lower]], richiamatemi al [[phone]]",
        "Scrivi una lettera alla signora [[other_family]], firmata [[full]].",
        "Il codice fiscale è [[national_id]], data di nascita [[birth_date]].",
        "Bonifico su [[iban]], intestato a [[full]].",
        "La carta [[card]] non viene accettata.",
        "Rispondete a [[email]] oppure a [[spelled_email]].",
        "[[other]] sostiene che [[given]] abbia già pagato.",
        "Nome utente: [[username]], password: [[password]], e non entro.",
        "PRATICA DI [[caps]], RICHIAMARE IL [[phone]]",
        "Passaporto [[passport]], targa [[plate]].",
        "Il dottor [[other_family]] ha visitato [[other_given]] ieri.",
        "Il server [[ip]] è fermo.",
        "Ho pubblicato la chiave [[api_key]], sul forum sono [[handle]].",
    ),
    replies=(
        "Grazie [[given]], ho segnato il numero [[phone]].",
        "La conferma arriva a [[email]], signor [[family]].",
        "Il pacco di [[full]] parte per [[address]].",
    ),
    neutral=(
        ("Perché il ghiaccio galleggia?", "Perché gelando l'acqua si dilata e diventa più leggera."),
        ("Che cos'è il morbo di Parkinson?", "Un disturbo del movimento che avanza lentamente."),
        ("Come si prepara il risotto?", "Si tosta il riso, si aggiunge brodo poco a poco e si manteca alla fine."),
        ("Dante è vissuto prima di Galileo?", "Sì, di circa tre secoli."),
        ("Spiegami la differenza tra clima e tempo.", "Il tempo è di oggi, il clima è la media di molti anni."),
    ),
)  # fmt: skip

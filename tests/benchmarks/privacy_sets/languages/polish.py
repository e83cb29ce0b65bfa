"""Polish names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

POLISH = ChatLanguage(
    "pl",
    given=words("Bożydar Czcibor Domasław Eustachy Felicyta Gniewosz Hiacynta Iwona-Maria Jarogniew Ksawera Ludomir Mścisław Nawojka Onufry Przecława Radzimir Sędziwój Świętosława Tolisława Unisław Wszebor Zdziwoj Żegota"),
    family=joined("Brzozen Olszan Dębor Wierzb Kalin", "owicki iński eczko arzewski ulak") + words("Szczypiorowska-Lis Trzebnicka-Wrona"),
    streets=("ul. Garncarska Stara", "ul. Wodna Dolina", "al. Lipowa Brama", "os. Słoneczny Stok", "pl. Targowy", "ul. Młyńska Grobla"),
    cities=("Radom", "Elbląg", "Zamość", "Tarnów", "Słupsk", "Legnica"),
    postcodes=("##-###",),
    addresses=("{street} {number}, {postcode} {city}", "{street} {number}/{unit}, {postcode} {city}", "{street} {number} m. {unit}, {city}"),
    phones=("+48 12 345 67 89", "512 345 678", "(12) 345 67 89", "0048 512 345 678", "512-345-678"),
    national_id="PL",
    dates=("%d.%m.%Y", "%d @ %Y r."),
    months=months("stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"),
    at_and_dot=("małpa", "kropka"),
    told=(
        "Cześć, tu [[full]], mieszkam pod adresem [[address]].",
        "nazywam się [[lower]], mój telefon to [[phone]]",
        "Napisz list do pani [[other]], podpis: [[full]].",
        "Mój PESEL to [[national_id]], data urodzenia [[birth_date]].",
        "Przelew na [[iban]], odbiorca [[full]].",
        "Karta [[card]] została odrzucona.",
        "Proszę odpisać na [[email]] albo [[spelled_email]].",
        "[[other]] twierdzi, że [[given]] już zapłacił rachunek.",
        "Login: [[username]], hasło: [[password]] i nic nie działa.",
        "SPRAWA: [[caps]], ODDZWONIĆ POD [[phone]]",
        "Paszport [[passport]], tablica rejestracyjna [[plate]].",
        "Lekarz [[other]] przyjmuje w czwartki.",
        "Od rana nie mogę się połączyć z [[ip]].",
        "Opublikowałem klucz [[api_key]], na forum jestem [[handle]].",
    ),
    replies=(
        "Dziękuję, [[given]]. Zapisuję numer [[phone]].",
        "Potwierdzenie wyślemy na [[email]].",
        "Paczka dla [[full]] jedzie pod adres [[address]].",
    ),
    neutral=(
        ("Dlaczego liście żółkną jesienią?", "Drzewo wycofuje z nich zielony barwnik i zostaje żółty."),
        ("Co to jest choroba Parkinsona?", "Zaburzenie ruchu, które rozwija się powoli."),
        ("Jak upiec szarlotkę?", "Kruche ciasto, jabłka z cynamonem i godzina w piekarniku."),
        ("Czy Kopernik żył przed Newtonem?", "Tak, około stu lat wcześniej."),
        ("Wyjaśnij różnicę między pogodą a klimatem.", "Pogoda jest dziś, klimat to średnia z wielu lat."),
    ),
)  # fmt: skip

"""Sentences in Polish."""
# ruff: noqa: E501 - a sentence a line reads best

from pipelines.synthetic.language import Language

POLISH = Language(
    "pl",
    ("lampka biurkowa", "czajnik", "notatnik", "wąż ogrodowy", "etui", "regał", "blender", "kurtka przeciwdeszczowa", "pompka rowerowa", "budzik"),
    ("Gdynia", "Lublin", "Opole", "Toruń", "Kielce", "Rzeszów"),
    ("poniedziałek", "wtorek", "środa", "czwartek", "piątek"),
    ("Dzień dobry,", "Witam,", "Dobry wieczór,", "Krótkie pytanie:"),
    (
        "gdzie jest moje zamówienie {order} z produktem „{product}”?",
        "kiedy dotrze zamówienie {order} („{product}”)? Miasto: {city}.",
        "produkt „{product}” nadal nie przyszedł. Zamówienie {order}, miasto {city}.",
    ),
    (
        "Zamówienie {order} jest w drodze: „{product}”, miasto {city}, dzień dostawy {weekday}, za {days} dni.",
        "Produkt „{product}” z zamówienia {order} opuścił magazyn. Dzień dostawy dla miasta {city} to zawsze {weekday}; trwa to {days} dni.",
    ),
    ("ile kosztuje {n} sztuk „{product}”?", "potrzebuję {n} razy „{product}”. Jaka jest suma?"),
    ("Jedna sztuka „{product}” kosztuje {price} euro, więc {n} sztuk to {n} x {price} = {total} euro.", "Suma wynosi {total} euro: {n} razy {price} za „{product}”."),
    (
        ("zmienić hasło", ("Otwórz stronę logowania i wybierz Nie pamiętam hasła.", "Kliknij odnośnik w wiadomości od nas.", "Ustaw nowe hasło, co najmniej dwanaście znaków.")),
        ("zwrócić produkt", ("Wydrukuj etykietę ze swojego konta.", "Zapakuj produkt razem z rachunkiem.", "Nadaj paczkę na poczcie w ciągu 30 dni.")),
        ("ugotować barszcz", ("Upiecz buraki w piekarniku.", "Zalej je bulionem i dodaj czosnek.", "Dopraw sokiem z cytryny i podgrzej.")),
        ("odkamienić czajnik", ("Wlej wodę i ocet po połowie.", "Zagotuj i odczekaj godzinę.", "Wypłucz trzy razy.")),
    ),
    ("jak mogę {task}?", "proszę wyjaśnić krok po kroku, jak {task}."),
    ("Aby {task}, zrób tak:", "Oto jak {task}:"),
    ("Dziękuję, to pomaga.", "Bardzo dziękuję!", "Świetnie, to wszystko."),
    ("Proszę bardzo. Miłego dnia!", "Nie ma za co. Do widzenia!"),
    (
        ("Proszę pisać na adres {value}.", "Mój adres e-mail to {value}."),
        ("Można do mnie dzwonić: telefon {value}.", "Mój numer telefonu to {value}."),
        ("Proszę obciążyć moją kartę {value}.", "Płatność poszła z karty kredytowej {value}."),
        ("Proszę o zwrot na IBAN {value}.", "Moje konto to {value}."),
        ("W dzienniku są logowania z adresu {value}.", "Mój serwer {value} nie odpowiada."),
        ("Mój {label} to {value}.", "Do formularza: {label} {value}."),
        ("Nie działa klonowanie https://deploy:{value}@git.quillforge-hosting.com/shop.git od rana.", "Używamy do tego postgres://app:{value}@db.quillforge-hosting.com:5432/orders od dawna."),
        ("Czy ten klucz jest jeszcze ważny: {value} ?", "Wpisane API_KEY={value} jest odrzucane."),
    ),
    ("Dziękuję, zapisano {value}.", "Na koncie zapisano {value}."),
    (("PL", "PESEL"), ("PL", "numer PESEL")),
)  # fmt: skip

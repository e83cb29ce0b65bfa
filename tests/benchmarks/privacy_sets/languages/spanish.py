"""Spanish names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

SPANISH = ChatLanguage(
    "es",
    given=words("Obdulio Casilda Baldomera Zósima Idoya Nerina Ildefonsa Gumersindo Escolástica Sinforoso Quiterio Melibea Onofra Wilfrida Anacleta"),
    family=joined("Valde Monte Robre Casa Fuen Peña", "lirón zabal quintos marqués sierra") + words("Urrutibeascoa Etxegoyen-Luna Zubizarretaga Bustamantino Carrascaleda"),
    streets=("Calle del Almendro Viejo", "Avenida de los Caballeros", "Plaza de la Lonja", "C/ Cerrajeros", "Paseo de las Moreras", "Ronda de Poniente", "Travesía del Horno", "Camino de la Ermita"),
    cities=("Albacete", "Huesca", "Zamora", "Mérida", "Querétaro", "Rosario", "Antofagasta"),
    postcodes=("#####",),
    addresses=("{street}, {number}, {postcode} {city}", "{street} {number}, {unit}º izq., {postcode} {city}", "{street} nº {number}, {city}"),
    phones=("+34 810 12 34 56", "810 123 456", "0034 612 345 678", "612-34-56-78", "+34 612 345 678"),
    national_id="ES",
    dates=("%d/%m/%Y", "%d de @ de %Y", "%d-%m-%Y"),
    months=months("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
    at_and_dot=("arroba", "punto"),
    told=(
        "Buenas, soy [[full]] y vivo en [[address]]. No me ha llegado nada.",
        "me llamo [[lower]], podéis llamarme al [[phone]]",
        "Redacta una carta para la señora [[other_family]] de parte de [[full]].",
        "Mi DNI es [[national_id]] y nací el [[birth_date]].",
        "Haced el ingreso en [[iban]], titular [[full]].",
        "La tarjeta [[card]] aparece como rechazada.",
        "Escríbeme a [[email]] o, si falla, a [[spelled_email]].",
        "[[other]] dice que [[given]] ya pagó la cena, ¿cómo se lo digo sin ofender?",
        "La contraseña: [[password]] no funciona y el usuario: [[username]] está bloqueado.",
        "ATENCIÓN: [[caps]] DEBE PRESENTARSE EN [[address]]",
        "Nº de pasaporte [[passport]], matrícula [[plate]].",
        "El doctor [[other_family]] ha visto a [[other_given]] esta mañana.",
        "El equipo con IP [[ip]] no responde desde ayer.",
        "He subido por error la clave [[api_key]] al foro, mi perfil es [[handle]].",
    ),
    replies=(
        "Gracias, [[given]]. Apunto el teléfono [[phone]].",
        "Le escribimos a [[email]] en cuanto haya novedades, señor [[family]].",
        "El envío para [[full]] saldrá hacia [[address]].",
    ),
    neutral=(
        ("¿Por qué se llora al cortar cebolla?", "Al cortarla se libera un gas que irrita los ojos."),
        ("¿Qué es la enfermedad de Alzheimer y qué es el síndrome de Down?", "La primera daña la memoria poco a poco; el segundo es una alteración de los cromosomas."),
        ("Explícame el subjuntivo con un ejemplo.", "Se usa para deseos y dudas: quiero que vengas, no creo que llueva."),
        ("¿Cómo se hace una tortilla de patatas?", "Se fríen las patatas despacio, se mezclan con huevo y se cuaja por ambos lados."),
        ("Resume el argumento de Don Quijote.", "Un hidalgo lee tantos libros de caballerías que sale a vivirlos con su escudero."),
        ("¿Qué diferencia hay entre una lista y una tupla?", "La lista se puede cambiar; la tupla, no."),
    ),
)  # fmt: skip

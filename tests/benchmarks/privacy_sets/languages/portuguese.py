"""Portuguese names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

PORTUGUESE = ChatLanguage(
    "pt",
    given=words("Deolinda Eurídice Felisberto Graciete Hermínio Leovigildo Marcolina Natércia Osvalda Porfírio Quitéria Rosalvo Silvério Teodorico Umbelina Valdomira Zulmira Adozinda Bráulio"),
    family=joined("Monte Vale Ribeir Carv Font", "alvos eirinha osela ardim enha") + words("Cascalheira Quintanilho Figueirôa-Passos Sardinheiro"),
    streets=("Rua dos Tanoeiros", "Avenida da Boa Maré", "Travessa do Forno Velho", "Largo das Oliveiras Altas", "Alameda dos Ipês", "Rua Nova da Azenha", "Praça do Relógio"),
    cities=("Évora", "Viseu", "Setúbal", "Londrina", "Niterói", "Guarda"),
    postcodes=("####-###", "#####-###"),
    addresses=("{street}, {number}, {postcode} {city}", "{street} n.º {number}, {unit}.º dto., {postcode} {city}", "{street}, {number} - {city}"),
    phones=("+351 212 345 678", "912 345 678", "(11) 2345-6789", "+55 11 96123-4567", "00351 912 345 678"),
    national_id="PT",
    dates=("%d/%m/%Y", "%d de @ de %Y"),
    months=months("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
    at_and_dot=("arroba", "ponto"),
    told=(
        "Olá, sou [[full]] e moro na [[address]].",
        "chamo-me [[lower]], o meu número é [[phone]]",
        "Escreve uma carta à senhora [[other_family]], assinada por [[full]].",
        "O meu NIF é [[national_id]] e nasci a [[birth_date]].",
        "Transferência para [[iban]], em nome de [[full]].",
        "O cartão [[card]] foi recusado duas vezes.",
        "Podem responder para [[email]] ou [[spelled_email]].",
        "[[other]] disse que [[given]] já tinha pago a conta.",
        "Utilizador: [[username]], senha: [[password]], e não entra.",
        "PROCESSO DE [[caps]], LIGAR PARA [[phone]]",
        "Passaporte [[passport]], matrícula [[plate]].",
        "O doutor [[other_family]] viu [[other_given]] ontem.",
        "Não consigo ligar-me a [[ip]] desde ontem.",
        "Publiquei a chave [[api_key]], no fórum sou [[handle]].",
    ),
    replies=(
        "Obrigado, [[given]]. Anotei o número [[phone]].",
        "A confirmação segue para [[email]], senhor [[family]].",
        "A encomenda de [[full]] segue para [[address]].",
    ),
    neutral=(
        ("Porque é que o céu é azul?", "O ar espalha mais a luz azul do que a vermelha."),
        ("O que é a doença de Crohn?", "Uma inflamação crónica do intestino."),
        ("Como se faz arroz doce?", "Coze-se o arroz em leite com açúcar, limão e canela."),
        ("Camões viveu em que século?", "No século dezasseis."),
        ("Qual é a diferença entre mar e oceano?", "O oceano é maior e mais fundo; o mar costuma ter terra à volta."),
    ),
)  # fmt: skip

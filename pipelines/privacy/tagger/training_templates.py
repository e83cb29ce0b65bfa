"""Sentences to train with, in eight languages, with gaps such as ``{N}``.

N name, G given name, A address, S street, C place, Z postal code, D number, O company, P product, E e-mail, W a real
sentence, K a name in an identifier. Titles and greetings are no part of a name.
"""
# ruff: noqa: E501, SIM905 - a sentence a line reads best

from __future__ import annotations

from collections.abc import Mapping

WITH_NAMES: Mapping[str, tuple[str, ...]] = {
    "en": (
        "My name is {N}.", "my name is {N} and i need help", "I'm {N}, I wrote last week.", "This is {N} speaking.", "Hi {G},", "Hello {N}, thanks for reaching out.", "Dear {N},\n{W}",
        "Dear Mr. {N},", "Dear Mrs {N},\n\n{W}", "Ms. {N} called about the invoice.", "Dr. {N} will see you now.", "{W}\n\nBest regards,\n{N}", "{W}\n\nThanks,\n{G}", "{W} Cheers, {G}",
        "{N} wrote: {W}", "{G}: {W}\n{G}: {W}", "{G}: \"{W}\"\n{G}: \"{W}\"", "Please contact {N} at {E}.", "Contact: {N} <{E}>", "cc {N}, {N} and {N}", "Attendees: {N}, {N}, {N}", "Meeting with {N} at {D}:30.",
        "{N} is my sister.", "{G}'s sister is called {G}.", "Is {G}'s account still open?", "{G} and {G} got married.", "I met {G} in {C}.", "{G} lives in {C} now.", "My friend {G} told me about {P}.", "Ask {G} about it.",
        "Can you tell {G} that {W}", "Please book a table for {N}, {D} people.", "The card is in the name of {N}.", "The account belongs to {N}.", "Name: {N}", "Full name: {N}\nPhone: {D}", "First name: {G}\nLast name: {N}", "Patient: {N}, {D} y/o", "patient {N} was admitted on day {D}",
        "Signed by {N}, CEO of {O}", "{N} ({O})", "{N}, head of sales at {O}, resigned.", "{O} was founded by {N} and {N}.", "Our partners {N}, {N} and {N} agree.", "{G}, {G}, {G}, {G}, {G} and {G} were there.", "the kids are {G}, {G}, {G} and {G}", "Winners: {G}, {G}, {G}", "people know me as {N}", "friends call me {G}", "goes by {G}", "nickname {G}", "{G} asked {G} about {G}.", "{G} looked at {G}. {W}", "{G} helped {G}.", "said {G} to {G}", "{G} here.", "{G} speaking, how can I help?", "is {G} in?", "{G} from {O} called", "{G} comes from {C}", "see you, {G}", "Follow-up for {N} next week", "{N}: {D}", "Mr {N} / Mrs {N}", "signed\n{N}\n{O}", "{N}\n{O}\n{A}\n{D}", "Mr. {N}\n{A}", "{N}, {A}", "> {N}\n> {O}\n> {A}", "The film was directed by {N} and stars {N}.", "The song was written by {N}.", "a book by {N}", "{N} was born in {C}.", "who is {N}?", "Have you heard of {N}?",
        "I work with {N} at {O}.", "send {D} dollars to {G}", "call {G} please", "text {G} that i will be late", "remind me to email {N}", "What is {G}'s number?", "{G} is a very kind person.", "{G}, {G} and {G} are coming.", "Don't worry, {G}!", "Come on {G}, {W}", "Thank you {G}.", "{G} said: {W}",
        "Assigned to {N}", "Reviewed-by: {N} <{E}>", "Author: {N}", "@ {G} can you look?", "Agent: Thanks {N}, let me check.", "Try the name of my husband, {N}.", "{N} has a meeting with {N} in {C}.", "Mr and Mrs {N}", "Professor {N} teaches here.", "Judge {N} ruled that {W}",         "The manager, {N}, approved.", "signed: {N}", "Passenger {N}, seat {D}A", "Ticket for {N}", "To: {N}\nFrom: {N}\n\n{W}", "Employee {N} (id {D})", "I, {N}, agree to the terms.", "{N} and I went to {C}.", "her name's {G}", "he is called {N}", "mother: {N}, father: {N}",
        "| {N} | {D} | {C} |", "{D},{N},{C}", "- {N}\n- {N}\n- {N}", "1. {N}\n2. {N}", "\"name\": \"{N}\"", "{{\"name\": \"{N}\", \"age\": {D}}}", "{{\"customer\": {{\"first_name\": \"{G}\", \"city\": \"{C}\"}}}}", "name={G}", "user: {N}; plan: {P}", "[{D}:15] {G}: {W}", "{G} - {D} points\n{G} - {D} points",
        "Write a poem for {G}.", "Write a birthday card for my daughter {G}, she turns {D}.", "Translate this: {G} loves {G}.", "{G} has {D} apples. {G} takes {D}. How many does {G} have?", "If {G} is taller than {G}, and {G} is taller than {G}, who is tallest?", "You are {N}, a detective from {C}.", "summarize the mail from {N}", "Reply to {G} politely: {W}",
        "a statue of {N}", "the {N} interview", "The {N} lawsuit drags on.", "no {G} fan would agree", "voted for {N}", "According to {N}, {W}", "{N} won {D} medals.", "The late {N} left everything to {G}.", "in memory of {N}", "{G}! {W}", "So {G}, {W}", "Yes, {G} is right.", "with {G}, {G} or {N}", "Invoice to {N}\n{A}",
        "open profile {K}", "/users/{K}/edit",
        "{N}\\n{W}", "\\\"{W}\\\" - {G}", "\\\"{G} told me\\\"", "{N} - {E}", "{G} ({D})", "from {N}:", "Q: who did it? A: {N}", "{N} vs. {N}", "{N}/{N}", "{N} & {N}", "by {N} | {D} min read",
    ),
    "de": (
        "Mein Name ist {N}.", "Ich heiße {N}.", "ich bin {N} und habe eine Frage", "Hallo {G},", "Liebe {G},\n{W}", "Lieber {G}, {W}", "Sehr geehrter Herr {N},", "Sehr geehrte Frau {N},\n\n{W}", "Frau {N} hat angerufen.", "Herr {N} ist krank.", "Dr. {N} operiert heute.", "{W}\n\nMit freundlichen Grüßen\n{N}", "{W}\n\nViele Grüße, {G}", "LG {G}",
        "{G}: {W}\n{G}: {W}", "Name: {N}", "Vorname: {G}\nNachname: {N}", "Patient {N}, {D} Jahre alt", "Bitte rufen Sie {N} an.", "Das Konto gehört {N}.", "{N} wohnt in {C}.", "{N} arbeitet bei {O}.", "{O} wurde von {N} gegründet.", "Ansprechpartner: {N} ({E})", "Kunde: {N}", "{G} und {G} kommen auch.", "Frag mal {G}.", "{G}s Mutter heißt {G}.", "Teilnehmer: {N}, {N}, {N}",
        "Der Film ist von {N}.", "Wer ist {N}?", "Meine Tochter {G} wird {D}.", "Geschäftsführer {N} sagte: {W}", "gez. {N}", "Schreib {G}, dass {W}", "Danke, {G}!", "Termin mit {N} um {D} Uhr", "Rechnung an {N}\n{A}", "- {N}\n- {N}", "Unser Kollege {N} ist im Urlaub.", "laut {N}", "vorgestellt von Prof. {N}", "Ist {G} schon da?", "{G} hat {D} Äpfel.",
    ),
    "es": (
        "Me llamo {N}.", "Mi nombre es {N}.", "soy {N}, necesito ayuda", "Hola {G},", "Hola, soy {G}.", "Querida {G}:\n{W}", "Estimado Sr. {N}:", "Estimada Sra. {N},\n\n{W}", "El señor {N} ha llamado.", "La doctora {N} pasa consulta hoy.", "Dr. {N}", "{W}\n\nUn saludo,\n{N}", "Atentamente, {N}", "{G}: {W}\n{G}: {W}", "Nombre: {N}", "Nombre: {G}.\nApellidos: {N}.", "Apellidos: {N}", "NOMBRE: {N}\nNIF: {D}",
        "Paciente: {N}, {D} años", "Médico: {N} NºCol: {D}", "Remitido por: {N}", "Responsable clínico: {N} {A}", "Firmado: {N}", "Llama a {N}, por favor.", "La cuenta es de {N}.", "{N} vive en {C}.", "{N} trabaja en {O}.", "{O} fue fundada por {N}.", "Contacto: {N} ({E})", "{G} y {G} también vienen.", "Pregúntale a {G}.", "La madre de {G} se llama {G}.", "Asistentes: {N}, {N} y {N}", "¿Quién es {N}?", "Mi hija {G} cumple {D}.",
        "Según {N}, {W}", "D. {N}", "Doña {N} y don {N}", "Gracias, {G}.", "Cita con {N} a las {D}", "Factura para {N}\n{A}", "- {N}\n- {N}", "Correspondencia: {N}. {A}", "Remitido por: Dr. {N} {A} Correo electrónico: {E}", "¿Está {G} ahí?", "{G} tiene {D} manzanas.", "el paciente {N} acude a urgencias", "la directora, {N}, dijo que {W}",
    ),
    "fr": (
        "Je m'appelle {N}.", "Mon nom est {N}.", "je suis {N} et j'ai une question", "Bonjour {G},", "Bonjour, c'est {G}.", "Chère {G},\n{W}", "Cher {G}, {W}", "Monsieur {N},", "Madame {N},\n\n{W}", "M. {N} a appelé.", "Mme {N} est absente.", "Le docteur {N} vous attend.", "{W}\n\nCordialement,\n{N}", "Bien à vous, {G}", "{G} : {W}\n{G} : {W}", "Nom : {N}", "Prénom : {G}\nNom : {N}", "Patient : {N}, {D} ans",         "Appelez {N}, s'il vous plaît.", "Le compte est au nom de {N}.", "{N} habite à {C}.", "{N} travaille chez {O}.", "{O} a été fondée par {N}.", "Contact : {N} ({E})", "{G} et {G} viennent aussi.", "Demande à {G}.", "La mère d'{G} s'appelle {G}.", "la sœur de {G}", "Participants : {N}, {N}, {N}", "Qui est {N} ?", "Ma fille {G} a {D} ans.", "Selon {N}, {W}", "Signé {N}", "Merci {G} !", "Rendez-vous avec {N} à {D} h", "Facture pour {N}\n{A}", "- {N}\n- {N}", "Le directeur, {N}, a refusé.", "un livre de {N}", "{G} a {D} pommes.",
    ),
    "it": (
        "Mi chiamo {N}.", "Il mio nome è {N}.", "sono {N} e ho una domanda", "Ciao {G},", "Cara {G},\n{W}", "Caro {G}, {W}", "Gentile Sig. {N},", "Gentile signora {N},\n\n{W}", "Il signor {N} ha telefonato.", "La dottoressa {N} è in ferie.", "Dott. {N}", "{W}\n\nCordiali saluti,\n{N}", "Un saluto, {G}", "{G}: {W}\n{G}: {W}", "Nome: {N}", "Nome: {G}\nCognome: {N}", "Paziente: {N}, {D} anni", "Chiami {N}, per favore.", "Il conto è intestato a {N}.", "{N} abita a {C}.", "{N} lavora per {O}.", "{O} è stata fondata da {N}.", "Contatto: {N} ({E})",
        "Vengono anche {G} e {G}.", "Chiedi a {G}.", "La madre di {G} si chiama {G}.", "Partecipanti: {N}, {N}, {N}", "Chi è {N}?", "Mia figlia {G} compie {D} anni.", "Secondo {N}, {W}", "Firmato {N}", "Grazie {G}!", "Appuntamento con {N} alle {D}", "Fattura a {N}\n{A}", "- {N}\n- {N}", "l'avvocato {N}", "{G} ha {D} mele.", "un film di {N}", "il direttore, {N}, ha detto che {W}",
    ),
    "nl": (
        "Mijn naam is {N}.", "Ik heet {N}.", "ik ben {N} en heb een vraag", "Hallo {G},", "Hoi {G}, {W}", "Beste {G},\n{W}", "Geachte heer {N},", "Geachte mevrouw {N},\n\n{W}", "De heer {N} heeft gebeld.", "Mevrouw {N} is ziek.", "Dr. {N}", "dhr. {N}", "{W}\n\nMet vriendelijke groet,\n{N}", "Groetjes, {G}", "{G}: {W}\n{G}: {W}", "Naam: {N}", "Voornaam: {G}\nAchternaam: {N}", "Patiënt {N}, {D} jaar", "Bel {N} even.", "De rekening staat op naam van {N}.", "{N} woont in {C}.", "{N} werkt bij {O}.", "{O} is opgericht door {N}.", "Contact: {N} ({E})", "{G} en {G} komen ook.",
        "Vraag het aan {G}.", "{G}s moeder heet {G}.", "Aanwezig: {N}, {N}, {N}", "Wie is {N}?", "Mijn dochter {G} wordt {D}.", "Volgens {N} {W}", "Getekend: {N}", "Bedankt {G}!", "Afspraak met {N} om {D} uur", "Factuur aan {N}\n{A}", "- {N}\n- {N}", "onze collega {N}", "{G} heeft {D} appels.", "een boek van {N}", "de directeur, {N}, zei dat {W}",
    ),
    "pt": (
        "O meu nome é {N}.", "Meu nome é {N}.", "Chamo-me {N}.", "Me chamo {N}.", "sou {N} e preciso de ajuda", "Olá {G},", "Oi {G}, {W}", "Querida {G},\n{W}", "Caro Sr. {N},", "Prezada Sra. {N},\n\n{W}", "O senhor {N} ligou.", "A doutora {N} atende hoje.", "Dr. {N}", "{W}\n\nAtenciosamente,\n{N}", "Abraços, {G}", "{G}: {W}\n{G}: {W}", "Nome: {N}", "Nome: {G}\nApelido: {N}", "Sobrenome: {N}", "Paciente: {N}, {D} anos", "Ligue para {N}, por favor.", "A conta está em nome de {N}.", "{N} mora em {C}.", "A {G} vive em {C}.", "O {G} trabalha na {O}.", "A {O} foi fundada por {N}.", "Contato: {N} ({E})",
        "O {G} e a {G} também vêm.", "Pergunte ao {G}.", "A mãe do {G} chama-se {G}.", "Participantes: {N}, {N}, {N}", "Quem é {N}?", "Minha filha {G} faz {D} anos.", "Segundo {N}, {W}", "Assinado: {N}", "Obrigado, {G}!", "Reunião com {N} às {D}h", "Fatura para {N}\n{A}", "- {N}\n- {N}", "{G} tem {D} maçãs.", "um livro de {N}", "o diretor, {N}, disse que {W}",
    ),
    "pl": (
        "Nazywam się {N}.", "Mam na imię {G}.", "jestem {N} i mam pytanie", "Cześć {G},", "Witaj {G}, {W}", "Droga {G},\n{W}", "Szanowny Panie {N},", "Szanowna Pani {N},\n\n{W}", "Dzwonił pan {N}.", "Pani {N} jest chora.", "dr {N}", "{W}\n\nZ poważaniem,\n{N}", "Pozdrawiam, {G}", "{G}: {W}\n{G}: {W}", "Imię i nazwisko: {N}", "Imię: {G}\nNazwisko: {N}", "Pacjent: {N}, lat {D}", "Proszę zadzwonić: {N}.", "Konto należy do: {N}.", "{N} mieszka w {C}.", "{N} pracuje w {O}.", "{O} założył {N}.", "Kontakt: {N} ({E})", "{G} i {G} też przyjdą.", "Zapytaj, czy {G} wie.",
        "Obecni: {N}, {N}, {N}", "Kim jest {N}?", "Moja córka {G} kończy {D} lat.", "Jak mówi {N}, {W}", "Podpisano: {N}", "Dziękuję, {G}!", "Spotkanie: {N}, godzina {D}", "Faktura dla: {N}\n{A}", "- {N}\n- {N}", "{G} ma {D} jabłek.", "autor: {N}", "dyrektor {N} powiedział, że {W}", "{N} i {N} byli w {C}.",
    ),
}  # fmt: skip

WITH_ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "en": (
        "My address is {A}", "I live at {A}.", "Please ship it to {A}.", "ship to: {A}", "Address: {A}", "Delivery address:\n{A}", "{N}\n{A}", "Our office is at {A}, come by.", "We moved from {S} to {A}.", "Send the letter to {N}, {A}.", "i moved to {A} last month", "is {A} a safe area?", "The house at {S} burnt down.", "How do I get from {S} to {S}?", "pick me up at {S}",
        "The accident happened on {S}.", "Meet me in front of {S}", "{O}\n{A}", "Billing address {A} Phone {D}", "The shop on {S} is closed.", "{N} lives at {A}.", "\"address\": \"{A}\"", "{{\"street\": \"{S}\", \"city\": \"{C}\"}}", "{D},{N},\"{A}\"", "{W} Our address: {A} {W}", "You can find us at {A}", "taxi to {S} now", "what's the weather near {A}", "The venue: {A}.", "{G} gave me this: {A}", "{W}\n{A}\n{W}", "who lives at {A}?", "there is a new cafe at {A}", "I need a plumber at {S}.", "return to {A}", "zip {Z}", "Zip code: {Z}", "my postal code is {Z}", "ZIP/postal code {Z}, {C}", "the corner of {S} and {S}", "between {S} and {S}", "{A} and {A}", "1) {A}\n2) {A}", "{O}\n{A}\n{D}\n{E}",
    ),
    "de": ("Meine Adresse ist {A}.", "Ich wohne in der {S}.", "ich wohne {A}", "Bitte liefern Sie an {A}.", "Adresse: {A}", "Anschrift:\n{A}", "{N}\n{A}", "{O}, {A}", "Unser Büro: {A}", "Treffen wir uns vor der {S}?", "Lieferadresse {A}", "{W} Die neue Anschrift lautet {A}. {W}", "Der Unfall war in der {S}.", "von {S} nach {S}", "wohnhaft {A}", "Meine Postleitzahl ist {Z}.", "PLZ {Z}"),
    "es": ("Mi dirección es {A}.", "Vivo en {A}.", "vivo en {S}", "Envíelo a {A}, por favor.", "Dirección: {A}", "Domicilio: {A}.", "Domicilio: {S}.\nLocalidad/ Provincia: {C}.", "{N}\n{A}", "{O}, {A}", "Nuestra oficina está en {A}.", "Quedamos en {S}.", "{W} La nueva dirección es {A}. {W}", "Médico: {N} {A}", "Remitido por: Dr. {N}. {A} ({E})", "con domicilio en {A}", "El accidente fue en {S}.", "Código postal: {Z}", "CP: {Z}.", "Localidad/Provincia: {C}.\nCP: {Z}."),
    "fr": ("Mon adresse est {A}.", "J'habite {A}.", "j'habite au {S}", "Livrez au {A}, merci.", "Adresse : {A}", "Adresse :\n{A}", "{N}\n{A}", "{O}, {A}", "Notre bureau se trouve {A}.", "Rendez-vous devant le {S}.", "{W} La nouvelle adresse est {A}. {W}", "domicilié {A}", "L'accident a eu lieu {S}.", "Code postal : {Z}"),
    "it": ("Il mio indirizzo è {A}.", "Abito in {A}.", "abito in {S}", "Spedite a {A}, grazie.", "Indirizzo: {A}", "Indirizzo di consegna:\n{A}", "{N}\n{A}", "{O}, {A}", "Il nostro ufficio è in {A}.", "Ci vediamo in {S}.", "{W} Il nuovo indirizzo è {A}. {W}", "residente in {A}", "CAP {Z}"),
    "nl": ("Mijn adres is {A}.", "Ik woon op {A}.", "ik woon aan de {S}", "Stuur het naar {A}.", "Adres: {A}", "Bezorgadres:\n{A}", "{N}\n{A}", "{O}, {A}", "Ons kantoor zit op {A}.", "We zien elkaar bij {S}.", "{W} Het nieuwe adres is {A}. {W}", "woonachtig {A}", "postcode {Z}"),
    "pt": ("O meu endereço é {A}.", "Moro na {A}.", "moro na {S}", "Envie para {A}, por favor.", "Endereço: {A}", "Morada: {A}", "Endereço de entrega:\n{A}", "{N}\n{A}", "{O}, {A}", "O nosso escritório fica na {A}.", "Vamos nos encontrar na {S}.", "{W} O novo endereço é {A}. {W}", "residente na {A}", "CEP {Z}", "código postal {Z}"),
    "pl": ("Mój adres to {A}.", "Mieszkam przy {S}.", "mieszkam na {A}", "Proszę wysłać na {A}.", "Adres: {A}", "Adres dostawy:\n{A}", "{N}\n{A}", "{O}, {A}", "Nasze biuro: {A}", "Spotkajmy się przy {S}.", "{W} Nowy adres: {A}. {W}", "zamieszkały {A}", "kod pocztowy {Z}"),
}  # fmt: skip

WITHOUT: Mapping[str, tuple[str, ...]] = {
    "en": (
        "{X}", "{X}, {X}, {X}", "{R} {R} {D}", "{Q} said {W}", "I asked {Q} and {Q} said {W}", "In {M} and {M} the {T} go to {C}.", "{R}: {X}", "{R} over {R}, see {R}", "open from {X} to {X}", "{Q}, {Q} and {R}", "the mark {D} is reached", "{O} announced {P} in {C}.", "Shares of {O} fell by {D} percent.", "I ordered a {P} from {O}.", "{V} disease", "He has {V}'s disease and high blood pressure.", "{V}'s palsy was ruled out.", "according to {V}'s law", "the {V} algorithm runs in {D} ms", "a {V} distribution", "{V} syndrome in children", "{V}'s theorem", "{V} test positive", "{V} score {D}", "The {V} Foundation", "{V} University", "{V} Street is a film.", "flights to {C} in {M}", "The {T} government met in {C} on {M}.", "{T} food is great", "is it cold in {C} in {M}?", "In {M}, {P} will be cheaper.",
        "{P} is a product of {O}.", "Ask {Q} to write the code.", "{Q} is a language model.", "We store it in {Q} and query with {Q}.", "deploy {Q} with {Q}", "{Q} crashed again on {M}", "{Q} vs {Q}: which is faster?", "import {Q}", "Upgrade {Q} to {D}.{D}", "Using {Q} and {Q} in production", "Hey {Q}, {W}", "{W} {Q} {W}", "{O}'s new {P}", "the {C} office", "{C}, {C} and {C}", "Welcome to {C}!", "Order {D} with the {P} is late.", "Total: {D} euros", "Step {D}: {W}", "# {W}\n\n- {W}\n- {W}", "Chapter {D}\n{W}", "{D} x {D} = {D}", "Room {D}, floor {D}", "page {D} of {D}", "version {D}.{D}.{D}", "{D} {C}", "bus {D} to {C}", "It took {D} days, {D} hours", "{M} {D}, 20{D}", "Bill {D} was passed.", "Will it work? May I? Mark it as done. Grant access to all. Frank answers only. Rose petals. Jack of all trades. Art is long.",
        "the street was empty", "Main road closed for {D} weeks", "a place to live", "{D} people live on this street", "The court ruled in {M}", "Drive {D} km and turn left", "square root of {D}",
    ),
    "de": ("{X}", "von {X} bis {X}", "{R} und {R}", "{Q} sagt: {W}", "{R}: {X}", "{O} eröffnet ein Büro in {C}.", "Die Aktie von {O} fiel um {D} Prozent.", "Die {V}-Krankheit ist selten.", "Morbus {V}", "{V}-Syndrom", "Das {V}-Gesetz", "Die {V}-Stiftung", "Ich habe {P} bei {O} bestellt.", "Frag {Q}.", "Wir nutzen {Q} und {Q}.", "Flug nach {C} im {M}", "Bestellung {D} ist unterwegs.", "Seite {D} von {D}", "{C}, {C} und {C}", "{Q} ist abgestürzt", "Die Straße ist gesperrt.", "Am {D}. {M} beginnt es."),
    "es": ("{X}", "de {X} a {X}", "{R} y {R}", "{Q} dice: {W}", "{R}: {X}", "{V} y {V}", "Antecedentes: {W}", "{O} abre una oficina en {C}.", "Las acciones de {O} bajaron un {D} por ciento.", "La enfermedad de {V} es rara.", "síndrome de {V}", "signo de {V}", "la escala de {V}", "La Fundación {V}", "Hospital {V}", "He pedido {P} a {O}.", "Pregunta a {Q}.", "Usamos {Q} y {Q}.", "vuelos a {C} en {M}", "El pedido {D} va en camino.", "página {D} de {D}", "{C}, {C} y {C}", "La calle está cortada.", "El {D} de {M} empieza.", "ingresa por fiebre de {D} días", "Exploración: TA {D}/{D}"),
    "fr": ("{X}", "de {X} à {X}", "{R} et {R}", "{Q} dit : {W}", "{R} : {X}", "{V} et {V}", "{O} ouvre un bureau à {C}.", "L'action {O} a perdu {D} pour cent.", "La maladie de {V} est rare.", "syndrome de {V}", "la loi de {V}", "La Fondation {V}", "J'ai commandé {P} chez {O}.", "Demande à {Q}.", "Nous utilisons {Q} et {Q}.", "vols pour {C} en {M}", "La commande {D} est en route.", "page {D} sur {D}", "{C}, {C} et {C}", "La rue est barrée.", "Le {D} {M} commence."),
    "it": ("{X}", "da {X} a {X}", "{R} e {R}", "{Q} dice: {W}", "{R}: {X}", "{O} apre un ufficio a {C}.", "Il titolo {O} ha perso il {D} per cento.", "La malattia di {V} è rara.", "sindrome di {V}", "morbo di {V}", "la legge di {V}", "Fondazione {V}", "Ho ordinato {P} da {O}.", "Chiedi a {Q}.", "Usiamo {Q} e {Q}.", "voli per {C} a {M}", "L'ordine {D} è in arrivo.", "pagina {D} di {D}", "{C}, {C} e {C}", "La via è chiusa."),
    "nl": ("{X}", "van {X} tot {X}", "{R} en {R}", "{Q} zegt: {W}", "{R}: {X}", "{O} opent een kantoor in {C}.", "Het aandeel {O} daalde {D} procent.", "De ziekte van {V} is zeldzaam.", "syndroom van {V}", "de wet van {V}", "Stichting {V}", "Ik heb {P} bij {O} besteld.", "Vraag het {Q}.", "We gebruiken {Q} en {Q}.", "vluchten naar {C} in {M}", "Bestelling {D} is onderweg.", "pagina {D} van {D}", "{C}, {C} en {C}", "De straat is afgesloten."),
    "pt": ("{X}", "de {X} a {X}", "{R} e {R}", "{Q} diz: {W}", "{R}: {X}", "A {O} abre um escritório em {C}.", "As ações da {O} caíram {D} por cento.", "A doença de {V} é rara.", "síndrome de {V}", "lei de {V}", "Fundação {V}", "Pedi {P} na {O}.", "Pergunte ao {Q}.", "Usamos {Q} e {Q}.", "voos para {C} em {M}", "O pedido {D} está a caminho.", "página {D} de {D}", "{C}, {C} e {C}", "A rua está fechada."),
    "pl": ("{X}", "od {X} do {X}", "{R} i {R}", "{Q} mówi: {W}", "{R}: {X}", "{O} otwiera biuro w {C}.", "Akcje {O} spadły o {D} procent.", "Choroba {V} jest rzadka.", "zespół {V}", "prawo {V}", "Fundacja {V}", "Zamówiłem {P} w {O}.", "Zapytaj {Q}.", "Używamy {Q} i {Q}.", "loty: {C}, {M}", "Zamówienie {D} jest w drodze.", "strona {D} z {D}", "{C}, {C} i {C}", "Ulica jest zamknięta."),
}  # fmt: skip
"""Texts without names and addresses; V a name that is not meant as a person, Q software, R a term, T a nation, M a month, X a number."""

EPONYMS = tuple(
    "Parkinson Alzheimer Bell Crohn Hodgkin Lewy Creutzfeldt Jakob Tourette Lyme Down Asperger Huntington Wilson Addison Cushing Graves "
    "Hashimoto Raynaud Sjögren Marfan Turner Klinefelter Guillain Barré Wernicke Korsakoff Babinski Romberg Murphy Glasgow Apgar Kaposi "
    "Burkitt Ewing Wilms Paget Meniere Menière Behçet Kawasaki Takayasu Bayes Gauss Newton Ohm Boltzmann Fermat Dijkstra Moore Murphy "
    "Poisson Bernoulli Fourier Laplace Markov Nash Pareto Turing Kruskal Prim Bellman Ford Euler Hooke Kepler Faraday Planck Doppler "
    "Chagas Bowen Barrett Gilbert Gaucher Fabry Pompe Rett Angelman Noonan Ménière Dupuytren Peyronie Whipple Still Pott Colles Lasègue".split()
) + (
    "Gilles de la Tourette", "Guillain-Barré", "Charcot-Marie-Tooth", "von Willebrand", "von Recklinghausen", "Ehlers-Danlos", "Stevens-Johnson",
    "Wolff-Parkinson-White", "Creutzfeldt-Jakob", "Prader-Willi", "Epstein-Barr", "Charles Bonnet", "Sjögren-Larsson", "Chiari", "Lou Gehrig", "Jakob-Creutzfeldt",
)  # fmt: skip
SOFTWARE = tuple(
    "Claude Cassandra Loki Alexa Siri Cortana Julia Jenkins Jupyter Apollo Hermes Athena Kafka Spark Oscar Gemini Bard Mistral Watson Tesla "
    "Grafana Prometheus Maven Django Flask Pandas Ansible Vagrant Terraform Docker Hadoop Ruby Rust Perl Pascal Ada Haskell Kotlin Python "
    "PyTorch TensorFlow Kubernetes Postgres Redis Elasticsearch Airflow Hugo Gatsby Angular React Vue Svelte Next Nuxt Astro Deno Bun Vite "
    "GitHub GitLab Jira Slack Trello Notion Figma Photoshop Excel Word Outlook Windows Linux Ubuntu Debian Fedora Android iPhone ChatGPT "
    "Copilot Llama Falcon Bert Elmo Grover Orca Vicuna Alpaca Dolly Jasper Harvey Clova Alice Bixby Celia Einstein Leonardo Mercedes Ferrari "
    "Ford Chrysler Porsche Honda Toyota Dell Lenovo Sony Nikon Canon Philips Siemens Bosch Braun Miele Dyson Nestle Ferrero Mars Johnnie "
    "Calvin Levi Boss Armani Versace Prada Gucci Hermès Dior Chanel Zara Victoria Wendy Arby Denny Ben Jerry Uncle Aunt Jemima".split()
)
NATIONS = tuple(
    "American British German French Spanish Italian Dutch Polish Portuguese Brazilian Mexican Canadian Chinese Japanese Indian Russian "
    "Ukrainian Turkish Greek Swedish Norwegian Danish Finnish Irish Scottish Welsh Swiss Austrian Belgian Czech Hungarian Romanian Korean "
    "Vietnamese Thai Egyptian Moroccan Nigerian Kenyan Australian Argentinian Chilean Colombian Peruvian Cuban Jewish Muslim Christian "
    "Catholic Buddhist European African Asian Latin Arab Kurdish Catalan Basque".split()
)
MONTHS: Mapping[str, tuple[str, ...]] = {
    "en": tuple("January February March April May June July August September October November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    "de": tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),
    "es": tuple("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes viernes domingo".split()),
    "fr": tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi jeudi dimanche".split()),
    "it": tuple("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre lunedì sabato".split()),
    "nl": tuple("januari februari maart april mei juni juli augustus september oktober november december maandag dinsdag zondag".split()),
    "pt": tuple("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro segunda-feira domingo".split()),
    "pl": tuple("styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień poniedziałek niedziela".split()),
}  # fmt: skip
COMPANY_SHAPES = (
    "{} Ltd", "{} Inc.", "{} GmbH", "{} & Co.", "{} and Sons", "{} Group", "{} SA", "{} S.L.", "{} AG", "{} BV", "{} Corp", "{} LLC", "{} Bank", "{} Labs", "{} Technologies", "{}-{} PLC",
    "{}, {} and {} LLP", "{} University", "{} Hospital", "{} Sp. z o.o.", "{} S.r.l.", "{} Lda", "{} Holdings", "Banco {}", "Grupo {}", "Fundación {}", "{} Airport", "{} Motors", "{} Systems", "{} Pharma",
)  # fmt: skip
PRONOUNS: Mapping[str, tuple[str, ...]] = {
    "en": ("he", "she", "him"),
    "de": ("er", "ihn", "ihm"),
    "es": ("él", "ella"),
    "fr": ("il", "elle", "lui"),
    "it": ("lui", "lei", "egli"),
    "nl": ("hij", "hem"),
    "pt": ("ele", "ela"),
    "pl": ("on", "ona", "jego"),
}
"""Words that a name can stand for in real sentences."""
AFTER: Mapping[str, tuple[str, ...]] = {
    "en": (
        "with",
        "for",
        "from",
        "by",
        "to",
        "and",
        "about",
        "of",
        "that",
        "said",
        "asked",
        "told",
        "called",
        "saw",
        "met",
    ),
    "de": ("mit", "für", "von", "bei", "und", "dass", "sagte", "fragte", "ohne", "gegen", "über"),
    "es": ("con", "para", "de", "por", "y", "que", "dijo", "a", "sin"),
    "fr": ("avec", "pour", "de", "par", "et", "que", "dit", "à", "chez", "sans"),
    "it": ("con", "per", "di", "da", "e", "che", "disse", "a", "tra"),
    "nl": ("met", "voor", "van", "door", "en", "dat", "zei", "bij", "aan", "zonder"),
    "pt": ("com", "para", "de", "por", "e", "que", "disse", "a", "sem"),
    "pl": ("z", "dla", "od", "przez", "i", "że", "powiedział", "do", "bez"),
}
"""Words after which a name can stand."""

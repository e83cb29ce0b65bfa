"""Words that tell of names and addresses, in the eight languages. Lower case; a word stands once a list."""
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping

CUES: Mapping[str, str] = {
    "title": """
        mr mrs ms miss mx dr prof professor sir madam mister missus doctor rev reverend capt captain sgt lt gen hon judge
        herr herrn frau fräulein señor señora señorita sr sra srta don doña dña doctora dra profesor profesora
        monsieur madame mademoiselle mme mlle docteur maître senhor senhora dona doutor doutora professora
        signor signora signorina sig dott dottor dottore dottoressa dottssa avv ing geom rag
        meneer mevrouw mevr dhr mw mej drs mej dokter pan pani panu panią państwo lek hab mgr inż doktor
    """,
    "intro": """
        dear hello hi hey cheers regards sincerely greetings thanks named called signed attn
        liebe lieber grüße grüßen gruß hallo namens heiße heißt heisse
        querido querida estimado estimada saludos llamo llama atentamente
        cher chère cordialement bonjour appelle nommé nommée
        caro cara prezado prezada abraços atenciosamente chamo chama
        gentile saluti ciao chiamo chiama cordialmente
        beste geachte groeten groetjes heet
        drogi droga szanowny szanowna pozdrawiam nazywam nazywa cześć
        patient paciente patiente paziente patiënt pacjent pacjentka kunde kundin klant cliente client klient klientka
    """,
    "particle": """
        van von der den de del della dello degli di da dos das do du des la le las los el al bin ibn ben zu zum ter ten
        vom y e i af av op het lo
    """,
    "street": """
        street st avenue ave road rd lane ln drive dr boulevard blvd court ct place pl square sq terrace way highway hwy
        crescent close parkway pkwy route apt apartment suite ste unit floor flat box
        straße strasse str allee weg platz gasse ring ufer damm chaussee postfach
        calle avenida avda av plaza paseo carretera ctra camino ronda travesía glorieta piso apartado
        rue boulevard bd chemin impasse quai cours allée cedex
        rua travessa praça alameda largo estrada rodovia apto bloco
        via viale piazza piazzale corso vicolo largo strada lungomare
        straat laan gracht plein kade dijk steeg postbus
        ulica ul aleja aleje al osiedle os plac rondo mieszkania skrytka
    """,
    "not_a_person": """
        claude cassandra loki siri cortana python java kafka spark delta apollo hermes argo jenkins jupyter gemini bard llama
        mistral grok copilot tesla amazon google microsoft grafana prometheus maven gradle django flask pandas ansible vagrant
        terraform docker hadoop
        monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
        september october november december montag dienstag mittwoch donnerstag freitag samstag sonntag
        januar februar märz mai juni juli august oktober dezember
        lunes martes miércoles jueves viernes lundi mardi mercredi jeudi vendredi samedi dimanche
        christmas easter english spanish german french portuguese italian dutch polish american british
    """,
    "eponym": """
        disease syndrome palsy law test scale score sign method theorem algorithm distribution lymphoma sarcoma dementia
        procedure manoeuvre maneuver reflex phenomenon equation constant effect index criteria operation bodies body
        krankheit syndrom morbus gesetz enfermedad síndrome mal linfoma ley signo escala maladie loi
        doença síndroma lei malattia morbo sindrome legge ziekte syndroom wet choroba zespół prawo
    """,
    "eponym_name": """
        tourette creutzfeldt guillain alzheimer crohn asperger sjögren dupuytren raynaud hashimoto recklinghausen willebrand
        lewy ehlers danlos peyronie gaucher krabbe friedreich chagas purkinje golgi broca papanicolaou mantoux rorschach
        valsalva heimlich trendelenburg kernig brudzinski apgar takayasu basedow meniere menière ménière hodgkin huntington klinefelter parkinson babinski wernicke korsakoff behçet kaposi
        burkitt lasègue romberg
    """,
    "name_word": "name names namen nombre nom nome naam imię imienia nazwisko nazwiska nazwa nazwę imie",
    "says_name": "heiße heisse heiß heiss llamo chiamo appelle nazywam chamo heet",
    "degree": "md dds phd dvm mph rn dmd jr sr ii iii iv",
    "suffix": "jr sr jnr snr phd esq iii iv junior senior",
    "company": """
        inc ltd llc plc corp corporation gmbh ag kg sa sas sarl srl spa bv nv oy ab co company group holdings bank
        university college hospital school institute foundation airport station museum church university
        universität krankenhaus schule universidad hospital colegio instituto université hôpital lycée universidade
        università ospedale scuola universiteit ziekenhuis uniwersytet szpital szkoła spółka
    """,
}

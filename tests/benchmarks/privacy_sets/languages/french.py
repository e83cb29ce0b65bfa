"""French names, addresses and sentences."""
# ruff: noqa: E501 - a sentence a line reads best

from privacy_sets.languages.form import ChatLanguage, joined, months, words

FRENCH = ChatLanguage(
    "fr",
    given=words("Théophane Ombeline Gwendal Sixtine Aldéric Cunégonde Euphrasie Évrard Foulques Hildegarde Isaure Léopoldine Mahaut Nolwenn Oriane Philibert Quitterie Sidonie Tancrède Ursuline Vianney Wandrille Barnabé"),
    family=joined("Beau Mont Val Roche Font Clair Haute Bel", "champeaux vallier grenet tournay mirel sauvin") + ("L'Hermitain", "d'Estrelles", "Le Guennaix-Royer"),
    streets=("rue des Tanneurs", "avenue du Vieux Moulin", "impasse des Coquelicots", "boulevard de la Corderie", "chemin des Vignes Rouges", "place du Beffroi", "quai des Brumes", "allée des Tilleuls Argentés"),
    cities=("Limoges", "Quimper", "Namur", "Lausanne", "Béziers", "Colmar", "Bayonne"),
    postcodes=("#####",),
    addresses=("{number}, {street}, {postcode} {city}", "{number} bis {street}, {postcode} {city}", "{number} {street}\n{postcode} {city}"),
    phones=("01 99 00 ## ##", "+33 6 39 98 ## ##", "06.39.98.##.##", "0033 2 61 91 ## ##", "05-36-49-##-##"),
    national_id="FR",
    dates=("%d/%m/%Y", "%d @ %Y"),
    months=months("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    at_and_dot=("arobase", "point"),
    told=(
        "Bonjour, ici [[full]], j'habite au [[address]] et mon colis est perdu.",
        "je suis [[lower]], rappelez-moi au [[phone]] svp",
        "Écris un mot d'excuse pour madame [[other_family]], signé [[full]].",
        "Mon numéro de sécurité sociale est le [[national_id]], né le [[birth_date]].",
        "Le virement doit aller sur [[iban]] au nom de [[full]].",
        "Ma carte [[card]] a été débitée deux fois.",
        "Répondez à [[email]] ou à [[spelled_email]].",
        "[[other]] prétend que [[given]] a oublié l'anniversaire de [[other_given]].",
        "Identifiant : [[username]], mot de passe : [[password]], et rien ne marche.",
        "DOSSIER DE [[caps]], À RAPPELER AU [[phone]]",
        "Passeport n° [[passport]], plaque [[plate]].",
        "Le docteur [[other_family]] a reçu [[given]] hier matin.",
        "Impossible de joindre [[ip]] depuis midi.",
        "J'ai publié la clé [[api_key]], je suis [[handle]] sur le forum.",
    ),
    replies=(
        "Merci [[given]], je note le [[phone]].",
        "La confirmation part à [[email]], monsieur [[family]].",
        "Le colis de [[full]] sera livré au [[address]].",
    ),
    neutral=(
        ("Pourquoi la mer est-elle salée ?", "Les fleuves y portent des sels depuis des millions d'années, et l'eau seule s'évapore."),
        ("C'est quoi la maladie de Charcot ?", "Une maladie des neurones qui commandent les muscles."),
        ("Donne-moi la recette des crêpes.", "De la farine, des œufs, du lait, une pincée de sel, et une heure de repos."),
        ("Quelle est la différence entre un oiseau et un avion ?", "L'un bat des ailes, l'autre les garde fixes et pousse l'air avec un moteur."),
        ("Traduis « chat » en anglais.", "Cat."),
        ("Pasteur et Curie, c'étaient qui ?", "Deux grands noms de la science : les vaccins pour l'un, la radioactivité pour l'autre."),
    ),
)  # fmt: skip

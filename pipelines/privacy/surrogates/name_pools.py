"""Names to draw surrogates from, by language and script: common given names and surnames, listed by us.

That a name is common is a fact; no list of anybody's was copied. The lists also tell a given name from a surname and
its usual gender.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

MALE, FEMALE, SURNAME = "male", "female", "surname"

_LISTS: Mapping[tuple[str, str], str] = {
    ("en", MALE): """
Aaron Adam Adrian Alan Albert Alfred Andrew Anthony Arthur Barry Benjamin Bernard Blake Bradley Brandon Brian Calvin
Cameron Charles Christopher Clifford Colin Connor Daniel Darren David Dennis Derek Dominic Douglas Duncan Dylan
Edward Edwin Elliot Eric Ethan Eugene Felix Fergus Francis Frederick Gareth Gavin Geoffrey George Gerald Gordon
Graham Gregory Harold Harry Harvey Henry Howard Hugh Ian Isaac Jacob James Jasper Jeffrey Jeremy Joel John Jonathan
Joseph Joshua Julian Justin Keith Kenneth Kevin Kyle Lawrence Leonard Lewis Liam Louis Malcolm Martin Matthew
Maurice Michael Miles Nathan Neil Nicholas Nigel Noah Norman Oliver Oscar Owen Patrick Paul Peter Philip Quentin
Ralph Raymond Richard Robert Roger Ronald Rupert Russell Ryan Samuel Scott Sean Sebastian Simon Spencer Stanley
Stephen Stuart Terence Theodore Thomas Timothy Toby Trevor Vernon Victor Vincent Walter Warren Wesley William Xavier
Zachary
""",
    ("en", FEMALE): """
Abigail Ada Agnes Alexandra Alice Alison Amanda Amber Amelia Amy Angela Anna Anne Audrey Barbara Beatrice Bethany
Beverly Bridget Brenda Bonnie Caitlin Carol Caroline Catherine Charlotte Christine Claire Constance Cynthia Daisy
Daphne Deborah Denise Diana Donna Doris Dorothy Edith Eileen Eleanor Elizabeth Ellen Elsie Emily Emma Erica Esther
Eva Evelyn Fiona Florence Frances Gail Gemma Georgia Gillian Gladys Gloria Gwen Hannah Harriet Hazel Heather Helen
Henrietta Hilary Imogen Irene Iris Isabel Jacqueline Jane Janet Jennifer Jessica Joanna Josephine Joyce Judith Julia
Karen Katherine Kathleen Kimberly Laura Leah Lesley Linda Lisa Lorraine Louise Lucy Lydia Mabel Margaret Marian Mary
Matilda Megan Melanie Melissa Meredith Mildred Miriam Molly Monica Nancy Naomi Natalie Nicola Nora Olivia Pamela
Patricia Paula Penelope Phoebe Rachel Rebecca Rosalind Rosemary Ruth Sabrina Sally Samantha Sarah Sharon Sheila
Shirley Sophia Stella Stephanie Susan Sylvia Tamara Teresa Tessa Theresa Tina Ursula Valerie Vera Veronica Victoria
Violet Virginia Vivian Wendy Winifred Yvonne Zoe
""",
    ("en", SURNAME): """
Abbott Adair Ainsworth Aldridge Alford Appleby Ashby Ashdown Atwood Babbage Bailey Baldwin Bancroft Barlow Barnes
Barton Beckett Bellamy Benson Bentley Bishop Blackwell Blythe Bolton Bowden Bradford Brewster Bristow Buckley
Burgess Burton Caldwell Calloway Carlisle Carmichael Cartwright Chadwick Chandler Clayton Clifton Colby Coleman
Connolly Corbett Crawford Crosby Cunningham Dalton Danvers Davenport Dawson Denham Dempsey Dixon Donovan Drayton
Dudley Durham Eastwood Eaton Edgerton Elliott Ellsworth Emerson Everett Fairbanks Farrell Fenwick Finch Fitzgerald
Fletcher Forsyth Foster Fowler Gallagher Garner Garrett Gibson Gilmore Goddard Goodwin Granger Grayson Greenwood
Grimshaw Hadley Haines Halstead Hamilton Hammond Harding Harlow Harper Hastings Hathaway Hawkins Hayward Holloway
Hopkins Hughes Huxley Ingram Irving Jarvis Jefferson Jennings Jessop Johnston Kendall Kendrick Kingsley Kirkwood
Knowles Lambert Langley Lawson Leighton Lockwood Ludlow Lyndon Mallory Marlow Marsh Mayfield Mercer Merrick
Middleton Milburn Montgomery Morley Morrison Nash Neville Newbury Newton Nichols Norris Norwood Oakley Ogden Osborne
Overton Padgett Palmer Parrish Paxton Payne Pemberton Perkins Pickering Prescott Preston Quigley Quinn Radcliffe
Ramsey Randall Redmond Remington Reynolds Ridley Rowland Rutherford Sawyer Saxton Seymour Shelby Sheridan Sherwood
Simmons Sinclair Stafford Stanton Sterling Stratton Sutton Talbot Tanner Thatcher Thornton Tilden Townsend Travis
Tucker Turner Underwood Upton Vance Vaughan Vickers Wainwright Walton Warwick Webster Wentworth Whitaker Wilcox
Winslow Winthrop Woodward Wyatt Yardley Yates
""",
    ("es", MALE): """
Adolfo Adrián Agustín Alberto Alejandro Alfonso Alonso Álvaro Andrés Antonio Armando Arturo Baltasar Benito Bernardo
Bruno Camilo Carlos César Claudio Cristian Damián Daniel Darío David Diego Domingo Eduardo Emilio Enrique Ernesto
Esteban Eugenio Fabián Federico Felipe Félix Fermín Fernando Francisco Gabriel Gerardo Germán Gilberto Gonzalo
Gregorio Guillermo Gustavo Héctor Hernán Horacio Hugo Ignacio Ismael Iván Jaime Javier Jerónimo Jesús Joaquín Jorge
José Juan Julián Julio Leandro Leonardo Leopoldo Lorenzo Lucas Luis Manuel Marcelo Marcos Mario Martín Mateo Matías
Mauricio Miguel Nicolás Octavio Orlando Óscar Pablo Patricio Pedro Rafael Ramiro Ramón Raúl Ricardo Roberto Rodrigo
Rogelio Rubén Salvador Samuel Santiago Saúl Sebastián Sergio Simón Teodoro Tomás Ulises Vicente Víctor Wilfredo
Xavier
""",
    ("es", FEMALE): """
Adela Adriana Alba Alejandra Alicia Almudena Amparo Ana Andrea Ángela Antonia Araceli Aurora Beatriz Belén Berta
Blanca Camila Carla Carlota Carmen Carolina Catalina Cecilia Celia Clara Concepción Consuelo Cristina Daniela Delia
Dolores Elena Elisa Elvira Emilia Encarnación Esperanza Estela Esther Eugenia Eva Fabiola Fátima Fernanda Florencia
Francisca Gabriela Gloria Graciela Guadalupe Inés Inmaculada Irene Isabel Jimena Josefa Juana Julia Julieta Laura
Leonor Leticia Lidia Lola Lorena Lourdes Lucía Luisa Luz Magdalena Manuela Marcela Margarita María Mariana Marisol
Marta Matilde Mercedes Micaela Miriam Mónica Montserrat Natalia Nieves Noelia Nuria Olga Paloma Paola Patricia Paula
Pilar Ramona Raquel Regina Rocío Rosa Rosario Sandra Sara Silvia Sofía Soledad Sonia Susana Tatiana Teresa Valentina
Valeria Verónica Victoria Virginia Ximena Yolanda
""",
    ("es", SURNAME): """
Acosta Aguilar Aguirre Alarcón Alcaraz Almagro Alonso Alvarado Álvarez Andrade Aranda Arellano Arroyo Ávila
Ballesteros Barrera Barrios Bautista Benavides Benítez Bermúdez Blanco Bravo Bustos Caballero Cabrera Calderón Calvo
Camacho Campos Cano Cárdenas Carmona Carrasco Castaño Castillo Castro Cervantes Cisneros Contreras Cordero Coronado
Cortés Crespo Cruz Cuevas Delgado Díaz Domínguez Duarte Durán Echeverría Escobar Escudero Espinosa Estévez Estrada
Fajardo Fernández Ferrer Figueroa Flores Franco Fuentes Galindo Gallardo Gallego Garcés García Garrido Gil Gimeno
Godoy Gómez González Granados Guerra Guerrero Gutiérrez Guzmán Heredia Hernández Herrera Hidalgo Ibáñez Iglesias
Izquierdo Jaramillo Jiménez Juárez Jurado Lara Ledesma León Linares Lorenzo Lozano Lucero Luján Luna Machado
Maldonado Manrique Marín Márquez Martínez Medina Méndez Mendoza Merino Molina Montero Montes Montoya Morales Moreno
Moya Muñoz Nájera Naranjo Navarro Nieto Noriega Núñez Ochoa Ojeda Olivares Ordóñez Orozco Ortega Ortiz Pacheco
Padilla Palacios Paredes Parra Pascual Pastor Peña Peralta Pereira Pérez Pineda Pizarro Ponce Prieto Quesada
Quintana Quiroga Ramírez Ramos Rangel Rebolledo Rentería Reyes Ríos Rivas Rivera Robles Rodríguez Rojas Román Romero
Rosales Rubio Ruiz Salazar Salcedo Saldaña Salinas Sánchez Sandoval Santana Santos Segovia Serrano Sierra Solano
Soler Soto Suárez Tamayo Tejada Téllez Toledo Torres Trujillo Urbina Valdés Valencia Valenzuela Vallejo Varela
Vargas Vázquez Vega Velasco Velázquez Vera Vidal Villalobos Villanueva Yáñez Zamora Zapata Zaragoza Zavala
""",
    ("de", MALE): """
Achim Albrecht Alexander Alfons Alois Andreas Ansgar Anton Armin Arno Axel Benedikt Benno Bernd Bernhard Bertram
Björn Bodo Burkhard Carsten Christian Christoph Clemens Cornelius Detlef Dieter Dietmar Dietrich Dirk Eberhard
Eckart Edgar Egon Emil Erich Ernst Erwin Eugen Ewald Ferdinand Florian Frank Franz Friedrich Fritz Georg Gerd
Gerhard Gero Gottfried Götz Günter Gustav Hannes Hans Harald Hartmut Heiko Heiner Heinrich Heinz Helmut Herbert
Hermann Holger Horst Ingo Jan Jens Joachim Jochen Johannes Jonas Jörg Jörn Jürgen Kai Karl Karsten Kilian Klaus
Konrad Kurt Leonhard Leopold Lorenz Lothar Ludwig Lukas Lutz Manfred Marius Markus Martin Mathias Maximilian
Meinhard Michael Moritz Niklas Norbert Olaf Ole Oskar Oswald Otto Paul Peter Philipp Rainer Ralf Reinhard Reinhold
Rolf Rüdiger Rudolf Rupert Sebastian Siegfried Sigmund Stefan Steffen Sven Theo Thilo Thomas Thorsten Till Tobias
Torben Udo Ulf Ulrich Uwe Valentin Veit Viktor Volker Walter Werner Wilfried Wilhelm Winfried Wolfgang Wolfram
""",
    ("de", FEMALE): """
Adelheid Agathe Agnes Alexandra Almut Andrea Angelika Anja Anke Anna Annegret Annemarie Annette Antje Antonia Astrid
Barbara Beate Bettina Bianca Birgit Birte Brigitte Carla Carola Charlotte Christa Christel Christiane Claudia
Cordula Cornelia Dagmar Daniela Doris Dorothea Edeltraud Edith Elfriede Elisabeth Elke Ella Elsa Emilia Erika
Ernestine Esther Eva Felicitas Franziska Frauke Frieda Friederike Gabriele Gerda Gerlinde Gertrud Gesine Gisela
Greta Gudrun Hannelore Hanna Hedwig Heide Heidrun Heike Helene Helga Henriette Hilde Hildegard Ilona Ilse Inge
Ingeborg Ingrid Irene Irmgard Jana Johanna Judith Julia Jutta Karin Karoline Katharina Kathrin Kerstin Klara Kirsten
Lena Leni Lieselotte Lotte Luise Lydia Magdalena Maike Margarete Margit Marianne Marlene Martina Mathilde Mechthild
Meike Melanie Mirjam Monika Nadine Nele Nicole Nora Ottilie Paula Petra Pia Rebekka Regina Renate Rita Roswitha Ruth
Sabine Sandra Sibylle Sieglinde Sigrid Silke Simone Sofie Stefanie Susanne Svenja Sylvia Tanja Teresa Theresia
Traudel Trude Ulla Ulrike Ursula Ute Vanessa Vera Verena Veronika Viktoria Walburga Waltraud Wiebke Wilhelmine
""",
    ("de", SURNAME): """
Adler Ahrens Albrecht Altmann Amberg Angerer Arnold Auer Bachmann Bader Baier Barth Bartsch Bauer Baumann
Baumgartner Becker Behrens Bender Berger Bergmann Bernhardt Beyer Binder Bischoff Blum Böhm Borchert Brandt Braun
Breuer Brinkmann Bruckner Buchholz Burkhardt Busch Christ Claasen Dahlke Decker Degener Denecke Dietz Dittrich Dorn
Drechsler Dreyer Ebert Eckert Eggers Ehlers Eichhorn Engel Engelhardt Erdmann Esser Faber Falkner Feldmann Fiedler
Fink Fischer Fleischer Förster Franke Freitag Freund Friedrich Frings Fuchs Funk Gärtner Gebhardt Geiger Gerlach
Gerster Giese Göbel Götz Graf Greiner Grimm Gruber Günther Haag Haas Hagen Hahn Hartmann Hauser Heckel Heinemann
Heinrich Held Henning Hermann Herzog Hess Heuer Hildebrandt Hinrichs Hirsch Hoffmann Hofmeister Hollmann Horn Huber
Iven Jacobi Jäger Jahn Jansen Jensen Jung Kaiser Kaufmann Keller Kern Kessler Kirchner Klein Klinger Knauer Knoll
Koch Köhler König Körner Kramer Kraus Kretschmer Krüger Kuhn Kunze Lang Lehmann Leitner Lenz Lindner Linke Lohmann
Lorenz Ludwig Lutz Maier Mann Marquardt Martens Maurer Mayer Meissner Menzel Merkel Metzger Michels Mohr Moser
Müller Nagel Naumann Neubauer Neumann Niemann Nolte Oberhauser Ott Otte Pape Paulsen Petersen Pfeiffer Pohl Popp
Preuss Probst Raabe Rauch Reich Reimann Reinhardt Renner Reuter Richter Riedel Ritter Röder Rösler Roth Rudolph
Sander Sauer Schäfer Scherer Schilling Schindler Schmidt Schneider Scholz Schreiber Schröder Schubert Schulze
Schumacher Schuster Schwarz Seidel Siebert Simon Sommer Stadler Stark Stein Steiner Stolz Strauss Sturm Thiel Thoma
Tietz Trautmann Uhlig Ullrich Urban Vetter Vogel Vogt Voigt Volkmann Wagner Walther Weber Wegner Weidner Weiss Wendt
Werner Wiedemann Wieland Winkler Winter Wirth Witte Wolff Zeller Ziegler Zimmermann
""",
    ("fr", MALE): """
Achille Adrien Alain Albert Alexandre Alexis Alphonse Anatole André Antoine Armand Arnaud Arthur Aurélien Baptiste
Barthélemy Bastien Benjamin Benoît Bernard Bertrand Blaise Bruno Camille Cédric Charles Christian Christophe Claude
Clément Cyril Damien Daniel David Denis Didier Dominique Édouard Éloi Émile Émilien Éric Étienne Eugène Fabien
Fabrice Félix Fernand Florent Francis François Frédéric Gaël Gaspard Gaston Gautier Geoffroy Georges Gérard Germain
Ghislain Gilbert Gilles Grégoire Guillaume Gustave Guy Henri Hervé Honoré Hubert Hugues Jacques Jean Jérémie Jérôme
Joël Joseph Jules Julien Laurent Léon Léopold Loïc Louis Luc Lucien Marc Marcel Marius Mathieu Maurice Maxime Michel
Nicolas Noël Octave Olivier Pascal Patrice Patrick Paul Philippe Pierre Quentin Raoul Raphaël Raymond Rémi René
Richard Robert Roger Roland Romain Sébastien Serge Simon Stéphane Sylvain Tanguy Théodore Théophile Thibault Thierry
Thomas Timothée Tristan Valentin Valéry Victor Vincent Xavier Yann Yves
""",
    ("fr", FEMALE): """
Adèle Adeline Agathe Agnès Alice Aline Amandine Amélie Anaïs Andrée Angélique Anne Annick Antoinette Ariane Aude
Aurélie Bénédicte Bernadette Berthe Brigitte Camille Capucine Carine Caroline Catherine Cécile Céline Chantal
Charlotte Chloé Christelle Christiane Claire Clarisse Claudine Clémence Clotilde Colette Coralie Corinne Danielle
Delphine Denise Diane Dominique Dorothée Édith Éléonore Éliane Élisabeth Élise Élodie Émilie Emma Estelle Eugénie
Fabienne Fanny Félicité Fernande Florence Françoise Frédérique Gabrielle Geneviève Germaine Ginette Gisèle Hélène
Henriette Hortense Inès Irène Isabelle Jacqueline Jeanne Joséphine Josiane Juliette Justine Karine Laetitia Laure
Laurence Léa Léonie Liliane Louise Lucie Lucienne Madeleine Manon Margaux Marguerite Marianne Marie Marion Marlène
Marthe Martine Mathilde Mireille Monique Muriel Nadège Nadine Nathalie Nicole Noémie Odette Odile Océane Pascale
Patricia Paulette Pauline Perrine Rachel Régine Renée Rolande Romane Rosalie Roxane Sabine Sandrine Sarah Simone
Sidonie Solange Sophie Stéphanie Suzanne Sylvie Thérèse Valentine Valérie Véronique Victoire Violette Virginie
Viviane Yolande Yvette Yvonne Zélie
""",
    ("fr", SURNAME): """
Abadie Adam Allard Ancel Arnoux Aubert Aubry Audet Auger Aumont Bailly Barbier Baron Barthe Bataille Baudry Beaulieu
Beaumont Bellanger Benard Berger Bernier Bertin Besson Blanchard Blondel Bodin Bonneau Bonnet Bouchard Boucher
Boulanger Bourdon Bourgeois Bouvier Boyer Breton Briand Brossard Brunet Bureau Cadet Carlier Caron Carpentier
Chapuis Charpentier Chauvin Chevalier Chevallier Clément Collet Colin Cordier Cornu Coste Courtois Cousin Crépin
Dagneau Daumas David Debray Delacroix Delaunay Delorme Deschamps Desjardins Devaux Didier Domingue Doucet Dubois
Duchamp Duclos Dufour Duhamel Dumas Dumont Dupont Dupré Dupuis Durand Duval Émery Esnault Étienne Évrard Fabre
Faucher Faure Favreau Ferrand Fleury Fontaine Forestier Fortin Foucher Fournier Gaillard Garnier Gaudin Gauthier
Gilbert Girard Giraud Gosselin Goulet Granger Grenier Grondin Guérin Guichard Guillot Guyon Hamel Hébert Henry Hervé
Hoarau Hubert Huet Humbert Imbert Jacob Jacquet Jacquot Joly Jourdan Julien Labbé Lacombe Lacroix Lafont Lagarde
Laine Lambert Langlois Laroche Larue Laurent Lavigne Lebrun Leclerc Lecomte Lefèvre Legrand Lejeune Lemaire Lemoine
Lenoir Leroux Leroy Lesage Levasseur Loiseau Lucas Mallet Marchal Marchand Maréchal Martel Masson Mathieu Maury
Menard Mercier Meunier Michaud Millet Monnier Moreau Morel Morin Moulin Navarre Neveu Noël Normand Olivier Pagès
Paquet Parent Parmentier Pasquier Payet Pelletier Perret Perrier Perrin Petit Peyre Philippe Picard Pichon Poirier
Poisson Pons Poulain Prévost Prigent Proust Quéré Rémy Renard Renaud Reynaud Ricard Richard Rivière Robin Roche
Rolland Rossignol Rousseau Roussel Rouvière Royer Sabatier Salmon Sauvage Savary Schmitt Séguin Simonet Tanguy
Tavernier Tessier Texier Thibault Thomas Tournier Toussaint Tremblay Valette Vallée Vasseur Verdier Vidal Vigneron
Villeneuve Vincent Voisin Weiss
""",
    ("pt", MALE): """
Abílio Adalberto Adriano Afonso Agostinho Aires Alberto Alexandre Alfredo Aluísio Álvaro Amadeu Américo André
Antônio Armando Arnaldo Artur Augusto Baltazar Benedito Bento Bernardo Bruno Caetano Caio Carlos Célio César Cláudio
Cristiano Danilo Davi Diogo Domingos Duarte Edmundo Edson Eduardo Emanuel Emílio Estêvão Eugênio Evandro Fábio
Fausto Felipe Fernando Filipe Flávio Francisco Frederico Gaspar Geraldo Gilberto Gonçalo Guilherme Gustavo Heitor
Hélio Henrique Horácio Hugo Humberto Inácio Isaque Ivo Jaime Januário João Joaquim Jorge José Josué Júlio Laércio
Leandro Leonel Lourenço Luciano Luís Manuel Marcelo Márcio Marco Mário Martim Matheus Maurício Mauro Miguel Murilo
Nélson Nuno Octávio Orlando Osvaldo Otávio Paulo Pedro Rafael Raimundo Raul Renato Ricardo Roberto Rodrigo Rogério
Ronaldo Rui Salvador Sandro Sebastião Sérgio Sílvio Simão Tadeu Telmo Thiago Tiago Tomás Ubirajara Valdemar Vasco
Vicente Vítor Vinícius Wagner Washington Xavier
""",
    ("pt", FEMALE): """
Adélia Adriana Alessandra Alice Aline Amália Amélia Ana Andréia Ângela Antónia Aparecida Augusta Aurora Bárbara
Beatriz Benedita Bianca Bruna Camila Carla Carolina Catarina Cecília Célia Clara Cláudia Conceição Cristiane
Cristina Dalila Daniela Débora Deolinda Diana Dulce Edna Eduarda Elaine Elisa Eliane Elvira Ema Emília Estela Eunice
Eva Fabiana Fátima Fernanda Filipa Flávia Francisca Gabriela Gisele Glória Graça Helena Heloísa Ilda Inês Iolanda
Iracema Irene Isabel Isadora Ivone Jacinta Janaína Joana Josefina Júlia Juliana Jussara Karina Lara Larissa Laura
Leonor Letícia Lídia Lígia Lívia Lorena Lúcia Luciana Luísa Luzia Madalena Manuela Mafalda Mara Márcia Margarida
Maria Mariana Marina Marisa Marta Matilde Melissa Mirela Miriam Mônica Natália Neuza Nádia Noémia Odete Olga Olívia
Otília Patrícia Paula Piedade Priscila Rafaela Raquel Rebeca Regina Renata Rita Rosa Rosângela Rute Sandra Sara
Silvana Silvia Simone Sofia Solange Sónia Susana Tânia Tatiana Telma Teresa Úrsula Valéria Vanessa Vera Verônica
Virgínia Vitória Viviane Yara Zélia Zulmira
""",
    ("pt", SURNAME): """
Abrantes Abreu Aguiar Albuquerque Alencar Almeida Alves Amaral Amorim Andrade Antunes Aragão Araújo Assis Ávila
Azevedo Bandeira Barbosa Barreto Barros Bastos Batista Bezerra Bittencourt Borges Botelho Braga Branco Brandão Brito
Bueno Cabral Caetano Caldeira Camargo Camões Campos Cardoso Carneiro Carvalho Castanheira Cavalcanti Cerqueira
Chaves Coelho Conceição Cordeiro Correia Costa Coutinho Couto Cruz Cunha Damasceno Dantas Diniz Domingues Dourado
Drummond Duarte Dutra Esteves Evangelista Falcão Faria Farias Feitosa Fernandes Ferraz Ferreira Figueiredo Fonseca
Fontes Fraga França Franco Freire Freitas Furtado Galvão Gama Garcez Gaspar Godinho Gomes Gonçalves Gouveia Guedes
Guerra Guimarães Gusmão Henriques Holanda Jardim Jesus Lacerda Lage Leal Leão Leitão Leite Lemos Lima Linhares Lins
Lobato Lobo Lopes Loureiro Lourenço Macedo Machado Maciel Madeira Magalhães Maia Malta Marinho Marques Martins
Mascarenhas Matos Medeiros Meireles Melo Mendes Mendonça Menezes Mesquita Miranda Monteiro Moraes Moreira Mota Moura
Nascimento Navarro Neves Nobre Nogueira Novais Nunes Oliveira Osório Pacheco Padilha Paiva Parente Passos Peçanha
Pedroso Peixoto Penha Pereira Pessoa Pimenta Pimentel Pinheiro Pinto Pires Pontes Portela Porto Prado Prates Queiroz
Quintela Rabelo Ramalho Ramos Rangel Rebelo Rego Reis Ribeiro Rios Rocha Rodrigues Sá Salgado Sales Salles Sampaio
Santana Santiago Santos Saraiva Seabra Seixas Serra Serrano Silva Silveira Simões Siqueira Soares Sousa Tavares
Teixeira Teles Toledo Torres Trindade Valadares Valente Vargas Vasconcelos Vaz Veiga Veloso Viana Vidal Vieira
Vilela Xavier Zagalo
""",
    ("it", MALE): """
Achille Adriano Alberto Aldo Alessandro Alessio Alfredo Amedeo Andrea Angelo Antonio Armando Arturo Attilio Augusto
Aurelio Bartolomeo Basilio Battista Benedetto Benito Bernardo Bruno Calogero Carlo Carmelo Cesare Christian Claudio
Corrado Cosimo Cristiano Damiano Daniele Danilo Dario Davide Diego Dino Domenico Donato Edoardo Elia Elio Emanuele
Emilio Enrico Enzo Ettore Eugenio Ezio Fabio Fabrizio Federico Felice Ferdinando Filippo Flavio Francesco Franco
Fulvio Gabriele Gaetano Gennaro Giacomo Giancarlo Gianluca Gianni Giorgio Giovanni Giuliano Giulio Giuseppe Gregorio
Guglielmo Guido Ignazio Ivan Ivano Jacopo Lamberto Leonardo Leone Livio Lorenzo Luca Luciano Luigi Manlio Marcello
Marco Mario Massimo Matteo Mattia Maurizio Michele Mirko Nello Nicola Nino Oreste Orlando Osvaldo Ottavio Paolo
Pasquale Patrizio Piero Pietro Raffaele Raimondo Remo Renato Renzo Riccardo Roberto Rocco Rodolfo Romano Romeo
Ruggero Salvatore Samuele Sandro Santo Saverio Sebastiano Sergio Silvano Silvio Simone Stefano Teodoro Tiberio
Tiziano Tommaso Ugo Umberto Valentino Valerio Vincenzo Virgilio Vito Vittorio Walter
""",
    ("it", FEMALE): """
Ada Adele Adriana Agata Agnese Alba Alessandra Alessia Alice Amalia Amelia Angela Anna Antonella Antonietta Arianna
Assunta Aurora Barbara Beatrice Benedetta Bianca Bruna Carla Carlotta Carmela Carolina Caterina Cecilia Chiara
Cinzia Clara Claudia Clelia Concetta Cristina Daniela Daria Debora Delia Diletta Domenica Donatella Dora Edda Elena
Eleonora Elettra Elisa Elisabetta Emanuela Emilia Emma Enrica Erica Ester Eugenia Eva Fabiola Federica Fiamma
Filomena Fiorella Flavia Flora Franca Francesca Gabriella Gaia Gemma Germana Ginevra Giada Gioia Giorgia Giovanna
Giulia Giuliana Giuseppina Grazia Greta Ida Ilaria Imma Irene Irma Isabella Ivana Jolanda Lara Laura Lavinia Letizia
Lia Lidia Liliana Livia Lorenza Loredana Lucia Luciana Lucrezia Luisa Maddalena Mara Marcella Margherita Maria
Marianna Marina Marisa Marta Martina Matilde Melissa Michela Milena Mirella Miriam Monica Nadia Natalia Nella
Nicoletta Noemi Norma Olga Olimpia Ornella Ottavia Paola Patrizia Piera Pina Raffaella Rachele Rebecca Renata Rita
Roberta Romina Rosa Rosalba Rosanna Sabrina Sandra Sara Serena Silvana Silvia Simona Sofia Sonia Stefania Susanna
Tania Tecla Teresa Tiziana Tosca Valentina Valeria Vanessa Vera Veronica Virginia Vittoria Viviana Wanda Zaira
""",
    ("it", SURNAME): """
Abate Agostini Albanese Alberti Albertini Alfieri Amadori Amato Andreoli Angelini Antonelli Arcuri Arena Aversa
Baldi Baldini Balestra Ballarini Barbieri Barone Barsotti Bartoli Basile Bassi Battaglia Bellini Bellucci Benedetti
Benvenuti Berardi Bernardi Bertolini Bianchi Biondi Boccia Bonetti Boni Borghi Boschi Bottari Brambilla Bruni Bruno
Bucci Cafiero Calabrese Calvi Campana Cantini Capasso Caputo Carbone Cardinale Carlini Carotenuto Caruso Casadei
Casale Castelli Catalano Cattaneo Cavalli Ceccarelli Cesari Ciani Cipriani Cirillo Colombo Conte Conti Coppola
Corradi Corsini Costa Costantini Cremonesi D'Agostino D'Amico D'Angelo Dellacasa Donati Donadio Durante Esposito
Fabbri Falcone Fanti Farina Fava Fedeli Ferrante Ferrara Ferrari Ferrero Ferretti Filippi Fiore Fiorentini Fontana
Forlani Formica Fortunato Fossati Franchi Franzoni Fusco Galante Galli Gallo Gandolfi Garofalo Gasparini Gatti
Gentile Ghezzi Giordano Giorgi Giuliani Giusti Grandi Grassi Graziani Greco Grimaldi Gritti Guarino Guerra Guidi
Iacono Improta Ingrosso Innocenti Landi Lanza Leone Leoni Lombardi Longo Lorenzi Luciani Lupi Macchi Maggi Magnani
Mancini Mancuso Manfredi Marchesi Marchetti Mariani Marini Marino Martelli Martini Masi Massari Mattei Mazza Mazzoni
Melis Merlo Messina Milani Minelli Molinari Montanari Monti Morandi Morelli Moretti Mori Moroni Moschini Nanni
Napoli Nardi Natale Negri Neri Nicoletti Nobili Oliva Olivieri Orlandi Orsini Pace Pagani Pagano Palmieri Palumbo
Parisi Pasini Pastore Pellegrini Pepe Perini Perrone Pesce Piazza Piccoli Pini Piras Pisani Poli Pozzi Proietti
Quaranta Raimondi Ranieri Ricci Riccardi Rinaldi Riva Rizzi Rizzo Romagnoli Romano Romeo Rossetti Rossi Rota Ruggeri
Russo Sabatini Sacchi Sala Salerno Salvi Sanna Santini Santoro Sartori Serra Silvestri Simonetti Sorrentino Spina
Stella Tedesco Terzi Testa Tosi Trevisan Turco Valente Valentini Valli Venturi Venturini Verdi Villa Villani Vinci
Visconti Vitale Vitali Viviani Volpe Zaccaria Zanella Zanetti Zanotti Zucca
""",
    ("nl", MALE): """
Aad Abel Adriaan Albert Alexander Alwin André Anton Arend Arie Arjan Arnold Arthur Bart Barend Bas Bastiaan Ben
Berend Bernard Bert Boris Bram Casper Christiaan Coen Cor Cornelis Daan Dennis Derk Diederik Dirk Douwe Eduard Edwin
Egbert Emiel Erik Evert Ewout Ferdinand Floris Folkert Frank Frans Frederik Freek Geert Gerard Gerben Gerrit Gijs
Govert Guus Hans Harm Harry Hendrik Henk Herman Hidde Hugo Huub Ivo Jaap Jacob Jan Jasper Jelle Jeroen Jesse Job
Joep Johan Joost Joris Jurgen Kees Klaas Koen Koenraad Lars Laurens Leendert Leo Lennart Lodewijk Lucas Luuk Maarten
Marcel Marinus Mark Martijn Mathijs Maurits Meindert Melle Menno Michiel Nico Niels Olaf Oscar Otto Pascal Paul
Peter Pieter Piet Quinten Reinier Remco Rene Rik Rinus Rob Robbert Roderick Roel Roeland Rogier Rolf Ruben Rudolf
Rutger Ruud Sander Sebastiaan Siebe Simon Sjoerd Stefan Steven Stijn Teun Theo Thijs Thomas Tijmen Tim Tjeerd Tobias
Tom Ton Tristan Vincent Wessel Wietse Willem Wim Wouter Xander Youri
""",
    ("nl", FEMALE): """
Aaltje Adriana Agnes Alida Alie Amber Anja Anke Anna Annelies Annemarie Anouk Antoinette Astrid Barbara Beatrijs
Berber Bianca Brechtje Brigitte Carla Carolien Cato Catharina Christina Claire Claudia Cornelia Dagmar Danielle
Debbie Diana Dieuwke Dineke Dorien Dorine Elise Elisabeth Elly Els Elsbeth Emma Erica Esmee Esther Eva Eveline
Fabienne Femke Fenna Floor Floortje Francien Frederike Fransje Geertje Geertruida Gerda Gerrie Griet Greetje Hanneke
Hannah Heleen Helga Hendrika Henriette Hester Hilde Hilda Ilse Ineke Inge Ingrid Irene Iris Isabel Jacoba Jacqueline
Janneke Jantine Jasmijn Jet Jikke Johanna Jolanda Josien Judith Julia Karin Katinka Katja Kim Klaske Laura Leonie
Liesbeth Lieke Linda Lisanne Lotte Louise Lucia Maaike Madelon Margriet Maria Marieke Marijke Marjan Marleen Marloes
Martine Mathilde Mieke Minke Mirjam Monique Nadia Nelleke Nicole Nienke Nora Olga Paula Paulien Petra Pleun Quirine
Reina Renate Renske Rianne Ria Roos Rosalie Roelien Ruth Sabine Sandra Sanne Saskia Sietske Sigrid Silvia Simone
Sofie Sonja Stella Suzanne Tamara Tanja Tessa Thea Theresia Tineke Trijntje Truus Ursula Vera Veerle Victoria
Wendela Wendy Wieke Wilhelmina Willemijn Yvonne Yvette
""",
    ("nl", SURNAME): """
Aarts Abbink Achterberg Akkerman Alberts Alkema Arends Asselbergs Baars Bakker Balkema Bartels Beekman Beerens
Bergman Berkhout Beumer Blankestijn Bloem Boer Boersma Bolhuis Boogaard Boonstra Borst Bosch Bosman Bouman
Bouwmeester Braam Brandsma Breukelman Brink Brouwer Bruins Buitenhuis Claassen Cornelissen Coster Cuijpers Damen
Dekker Dijkstra Dirksen Dijkman Doorn Driessen Drost Eikelboom Eijkman Elzinga Engelen Evers Feenstra Felix Franken
Fokkema Frijters Geelen Geerts Gerritsen Goossens Graafland Groen Groeneveld Groothuis Haan Haandrikman Hagenaars
Hartog Heemskerk Heijmans Heinen Hekman Hendriks Hermans Heuvelman Hoekstra Hofman Hofstra Holtrop Hoogland
Hoogendoorn Huisman Huizinga IJzerman Jacobs Jaspers Jongbloed Jonker Joosten Kamphuis Kamp Keizer Kerkhof Kievit
Klaassen Kleijn Klomp Klompmaker Kok Koning Koopman Koster Kramer Kroon Kruijff Kuipers Laan Lammers Langenberg
Leeuw Lems Lindeman Linders Lubbers Luijten Maas Maassen Martens Meeuwsen Meijer Meijerink Mertens Meulenbelt
Michels Mol Molenaar Mooren Mulder Muller Nagtegaal Nanninga Niemeijer Nieuwenhuis Nijhof Noordhoek Oldenburg Olthof
Oosterhuis Oostveen Otten Overbeek Paalman Peeters Pelgrim Peters Pieters Plas Pol Postma Prins Pronk Raaijmakers
Reinders Rietveld Rijnders Roelofs Roosendaal Rozendal Ruiter Rutten Sanders Schaap Scheffer Scholten Schouten
Schreuder Schutte Schuurman Sikkema Slagter Slot Smeets Smits Snijders Spaans Spijker Steenbergen Stegeman Sterk
Stolk Strijbos Swart Tervoort Teunissen Theunis Thijssen Timmer Timmermans Tol Tuinstra Uitham Uittenbogaard Vaessen
Verbeek Verbruggen Verhagen Verhoeven Verkerk Vermeer Vermeulen Verschoor Verweij Vink Visser Vliet Vonk Voorhoeve
Vos Vroom Waard Wagenaar Weijers Wensink Wessels Westerhof Westra Wiersma Wijnen Willems Willemsen Winter Witteveen
Wolters Woudstra Zandstra Zeeman Zijlstra Zwart
""",
    ("pl", MALE): """
Adam Adrian Albert Aleksander Aleksy Alfred Alojzy Andrzej Antoni Arkadiusz Artur August Bartłomiej Bartosz Benedykt
Bernard Błażej Bogdan Bogumił Bogusław Bolesław Borys Bronisław Cezary Cyprian Czesław Damian Daniel Dariusz Dawid
Dominik Edmund Edward Emil Eryk Eugeniusz Fabian Felicjan Feliks Ferdynand Filip Florian Franciszek Fryderyk Gabriel
Gerard Grzegorz Gustaw Henryk Hieronim Hubert Ignacy Igor Ireneusz Iwo Jacek Jakub Jan Janusz Jarosław Jędrzej Jerzy
Jeremi Joachim Józef Julian Juliusz Kacper Kajetan Kamil Karol Kazimierz Klemens Konrad Konstanty Kornel Krystian
Krzysztof Ksawery Lech Leon Leonard Leopold Lesław Leszek Lubomir Lucjan Ludwik Łukasz Maciej Maksymilian Marcel
Marcin Marek Marian Mariusz Mateusz Michał Mieczysław Mikołaj Miłosz Mirosław Nikodem Norbert Olaf Olgierd Oskar
Patryk Paweł Piotr Przemysław Radosław Rafał Remigiusz Robert Roland Roman Ryszard Sebastian Seweryn Sławomir
Stanisław Stefan Szymon Tadeusz Teodor Tobiasz Tomasz Tymoteusz Wacław Waldemar Walenty Wawrzyniec Wiesław Wiktor
Wincenty Witold Władysław Włodzimierz Wojciech Zbigniew Zdzisław Zenon Zygmunt
""",
    ("pl", FEMALE): """
Adela Adriana Agata Agnieszka Aldona Aleksandra Alicja Alina Amelia Anastazja Aneta Angelika Aniela Anna Antonina
Apolonia Barbara Beata Bernadeta Blanka Bogna Bogumiła Bożena Bronisława Cecylia Celina Czesława Dagmara Danuta
Daria Dominika Dorota Edyta Elżbieta Eleonora Eliza Emilia Ewa Ewelina Felicja Franciszka Gabriela Genowefa Gertruda
Grażyna Halina Hanna Helena Honorata Iga Ilona Irena Irmina Iwona Izabela Jadwiga Jagoda Janina Joanna Jolanta
Józefa Judyta Julia Julita Justyna Kalina Kamila Karina Karolina Katarzyna Kazimiera Kinga Klara Klaudia Kornelia
Krystyna Ksenia Larysa Laura Lena Lidia Liliana Liwia Lucyna Ludmiła Łucja Magda Magdalena Maja Malwina Małgorzata
Marcelina Maria Marianna Mariola Marlena Marta Martyna Maryla Matylda Michalina Milena Mirosława Monika Nadia
Natalia Nina Olga Oliwia Otylia Patrycja Paulina Pelagia Pola Regina Renata Roksana Róża Rozalia Ryszarda Sabina
Sandra Sara Sławomira Stanisława Stefania Stella Sylwia Tamara Tatiana Teodora Teresa Urszula Wacława Walentyna
Wanda Weronika Wiesława Wiktoria Władysława Zofia Zuzanna Zyta
""",
    ("pl", SURNAME): """
Adamczyk Adamski Andrzejewski Antczak Augustyniak Banach Banasik Baran Baranowski Bartczak Bednarek Bednarski Bielak
Bielecki Bielski Błaszczyk Bogucki Borkowski Borowiec Borowski Brzeziński Brzozowski Budzyński Bukowski Chmiel
Chmielewski Chojnacki Chudzik Cichy Ciesielski Cieślak Cybulski Czajka Czajkowski Czarnecki Czerwiński Czyż Dąbek
Dąbrowski Derda Dobosz Dobrowolski Domagała Domański Drozd Duda Dudek Dudziński Dziedzic Faron Figura Fijałkowski
Filipek Flis Florczak Frąckowiak Gajda Gajewski Gałązka Gawron Gawroński Gil Głowacki Gołębiowski Gołąb Górecki
Górny Górski Grabowski Graczyk Grochowski Grodzki Gruszka Grzelak Grzybowski Hajduk Herman Ignaczak Iwański
Jabłoński Jagiełło Jakubiak Jakubowski Jankowski Janiak Janicki Janik Janowski Jarosz Jasiński Jastrzębski Jaworski
Jędrzejczak Jóźwiak Jurek Kaczmarczyk Kaczmarek Kaczor Kalinowski Kamiński Kania Karczewski Karpiński Kasprzak
Kaźmierczak Kędzierski Kępa Kielar Kiełbasa Klimczak Klimek Kłos Kmiecik Kołodziej Konieczny Kopeć Kos Kosiński
Kostrzewa Kotowski Kowal Kowalczyk Kowalewski Kowalski Kozak Kozieł Kozłowski Krajewski Krakowiak Krawczyk Król Kruk
Krupa Krzemiński Kubiak Kubicki Kucharski Kuczyński Kujawa Kulesza Kulik Kurek Kurowski Kwiatkowski Lach Lasota
Leśniak Leśniewski Lewandowski Lipiński Lis Lisowski Łukasik Łuczak Madej Majchrzak Majewski Majka Makowski Malec
Malinowski Małecki Marciniak Marczak Marek Markiewicz Markowski Marszałek Matuszak Matysiak Maziarz Mazur Mazurek
Michalak Michalski Mielczarek Mikołajczyk Milewski Miller Morawski Mróz Muszyński Nawrocki Niemczyk Niemiec Nowacki
Nowak Nowakowski Nowicki Olejnik Olszewski Orłowski Orzechowski Osiński Owczarek Pająk Pakuła Paluch Panek Pawlak
Pawlik Pawłowski Pietrzak Pietrzyk Pilarski Piotrowski Pluta Polak Popławski Przybylski Przybysz Ptak Rakowski
Ratajczak Reszka Rogalski Rogowski Romanowski Rosiak Różański Rudnicki Rutkowski Rybak Rybicki Sadowski Sikora
Sikorski Skiba Skibiński Skowron Skowroński Skrzypczak Słowik Smoliński Sobczak Sobczyk Sobieraj Sobolewski Socha
Sokołowski Sosnowski Sowa Stachowiak Stachura Stankiewicz Stasiak Stawicki Stec Stefaniak Stępień Stolarczyk
Strzelecki Szczepaniak Szczepański Szulc Szewczyk Szymański Tokarski Tomaszewski Tomczak Tomczyk Turek Tkaczyk
Twardowski Urban Urbaniak Urbański Walczak Walkowiak Wasilewski Wawrzyniak Węgrzyn Wesołowski Wieczorek Wierzbicki
Wilczyński Wilk Wiśniewski Witczak Witkowski Włodarczyk Wojciechowski Wojtas Wolański Wolski Woźniak Wójcik Wrona
Wróbel Wroński Wypych Zając Zaremba Zawada Zawadzki Zieliński Zięba Żak Żuk Żurek
""",
    ("cyrillic", MALE): """
Александр Алексей Анатолий Андрей Антон Аркадий Артём Борис Вадим Валентин Валерий Василий Виктор Виталий Владимир
Вячеслав Геннадий Георгий Григорий Даниил Денис Дмитрий Евгений Егор Иван Игорь Илья Кирилл Константин Леонид Максим
Матвей Михаил Николай Олег Павел Пётр Роман Семён Сергей Степан Тарас Тимофей Фёдор Юрий Яков
""",
    ("cyrillic", FEMALE): """
Александра Алина Алла Анастасия Анна Валентина Валерия Варвара Вера Виктория Галина Дарья Евгения Екатерина Елена
Елизавета Жанна Зинаида Зоя Инна Ирина Кира Клавдия Ксения Лариса Лидия Любовь Людмила Маргарита Марина Мария
Надежда Наталья Нина Оксана Ольга Полина Раиса Светлана София Таисия Тамара Татьяна Ульяна Юлия Яна
""",
    ("cyrillic", SURNAME): """
Агапов Андреев Антипов Беляев Богданов Борисов Быков Васильев Виноградов Власов Воробьёв Гаврилов Голубев Горбунов
Григорьев Давыдов Данилов Денисов Дорофеев Ершов Ефимов Жданов Жуков Зайцев Захаров Зимин Игнатов Ильин Калинин
Карпов Киселёв Комаров Корнилов Крылов Кузнецов Лазарев Лебедев Логинов Макаров Максимов Матвеев Миронов Назаров
Никитин Носов Одинцов Орлов Осипов Панов Поляков Прохоров Родионов Романов Рябов Савельев Симонов Соболев Сорокин
Тарасов Титов Трофимов Уваров Устинов Фадеев Филатов Фролов Харитонов Цветков Чернов Шестаков Широков Щукин Юдин
Яковлев
""",
    ("greek", MALE): """
Αλέξανδρος Ανδρέας Βασίλης Γιάννης Γιώργος Δημήτρης Ηλίας Θανάσης Κώστας Μιχάλης Νίκος Παύλος Πέτρος Σπύρος Στέφανος
Χρήστος
""",
    ("greek", FEMALE): """
Αγγελική Αθηνά Αικατερίνη Αναστασία Βασιλική Γεωργία Δέσποινα Ειρήνη Ελένη Ευαγγελία Ιωάννα Κατερίνα Μαρία Σοφία
Χριστίνα
""",
    ("greek", SURNAME): """
Αλεξίου Αντωνίου Βλάχος Γεωργίου Δημητρίου Ιωάννου Καραγιάννης Κωνσταντίνου Λάμπρου Μακρής Νικολάου Οικονόμου
Παπαδόπουλος Παππάς Σταύρου Χατζής
""",
    ("arabic", MALE): """
أحمد إبراهيم أيمن بدر جمال حسن حسين خالد سامي سعيد طارق عادل عمر فيصل كريم محمود مصطفى ناصر هشام ياسر يوسف
""",
    ("arabic", FEMALE): """
أسماء أمل بسمة جميلة خديجة دينا رانيا زينب سارة سلمى سميرة عائشة فاطمة ليلى مريم منى نادية نور هالة ياسمين
""",
    ("arabic", SURNAME): """
البغدادي الجبوري الحسيني الحكيم الخطيب الدوري الراشد الزهراني السالم الشامي الصالح الطائي العبادي العمري الفارس
القاسم الكيلاني المصري النجار الهاشمي
""",
    ("devanagari", MALE): """
अजय अनिल अमित अर्जुन अशोक दीपक गौरव हरीश जयंत मनोज नवीन प्रकाश राजेश राहुल रोहित संजय सुनील सुरेश विजय विकास
""",
    ("devanagari", FEMALE): """
अंजलि अनीता आरती दीपा गीता जया कविता लता मीना नेहा पूजा प्रिया रेखा रीना संगीता सीमा शालिनी सुनीता उषा वंदना
""",
    ("devanagari", SURNAME): """
अग्रवाल कपूर कुलकर्णी गुप्ता चौहान जोशी तिवारी त्रिपाठी देशमुख पाटिल पांडेय भट्ट मिश्रा मेहता यादव राठौर वर्मा शर्मा
सक्सेना सिंह
""",
    ("hangul", MALE): """
민준 서준 도윤 예준 시우 주원 하준 지호 지후 준서 건우 현우 우진 선우 서진 연우 정우 승현 준혁 동현
""",
    ("hangul", FEMALE): """
서연 서윤 지우 서현 하은 하윤 민서 지유 윤서 채원 수아 지민 지윤 다은 은서 예은 수빈 소율 예린 유진
""",
    ("hangul", SURNAME): """
김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송 류 홍
""",
    ("han", MALE): """
伟 强 磊 军 洋 勇 杰 涛 超 明 建华 志强 建国 文博 子轩 浩然 宇航 俊杰 家豪 国栋
""",
    ("han", FEMALE): """
芳 娜 敏 静 丽 艳 娟 霞 婷 雪 秀英 桂英 玉兰 晓燕 雅琴 欣怡 梓涵 诗涵 雨桐 佳慧
""",
    ("han", SURNAME): """
王 李 张 刘 陈 杨 黄 赵 吴 周 徐 孙 马 朱 胡 郭 何 林 高 罗 郑 梁 谢 宋 唐 许 韩 冯 邓 曹
""",
}  # fmt: skip

LANGUAGES = ("en", "es", "de", "fr", "pt", "it", "nl", "pl")
"""Languages of the Latin script; where a name is common in several the first counts."""

SCRIPTS = ("cyrillic", "greek", "arabic", "devanagari", "hangul", "han")

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ĳ": "ij"})


def bare(name: str) -> str:
    """Return a name in lower case without accents, as surrogates are keyed: ``Théodore`` and ``THEODORE`` are one."""
    low = name.lower()
    if low.isascii():
        return low
    split = unicodedata.normalize("NFD", low.translate(_LETTERS))
    return unicodedata.normalize("NFC", "".join(c for c in split if not unicodedata.combining(c)))


class Kind(NamedTuple):
    """What a name is by itself: the language or script of its list, and male, female or surname."""

    language: str
    role: str


@lru_cache(maxsize=1)
def known_names() -> dict[str, Kind]:
    """Return each listed name in its bare form with its kind; given names win over surnames, then the first list."""
    found: dict[str, Kind] = {}
    for role_is_surname in (False, True):
        for language in (*LANGUAGES, *SCRIPTS):
            for role in (SURNAME,) if role_is_surname else (MALE, FEMALE):
                for name in names(language, role):
                    found.setdefault(bare(name), Kind(language, role))
    return found


@lru_cache(maxsize=64)
def names(language: str, role: str) -> tuple[str, ...]:
    """Return the names of one list, each once."""
    return tuple(dict.fromkeys(_LISTS[language, role].split()))

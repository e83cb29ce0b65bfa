"""Short forms of given names, so that Johnny and Jonathan are one person. A doubtful link is left out."""

from __future__ import annotations

from pipelines.privacy.surrogates.name_pools import bare

_LINKS = """
abby abigail; andy andrew; tony anthony; barb barbara; bea beatrice; ben benjamin; benny benjamin; beth elizabeth;
betty elizabeth; betsy elizabeth; liz elizabeth; lizzie elizabeth; lisbeth elizabeth; billy william; willie william;
bob robert; bobby robert; rob robert; robbie robert; brad bradley; charlie charles; chuck charles; christy
christine; dan daniel; danny daniel; dave david; davey david; deb deborah; debbie deborah; rick richard; ricky
richard; don donald; doug douglas; ed edward; eddie edward; teddy theodore; fred frederick; freddie frederick; gabe
gabriel; geoff geoffrey; greg gregory; gus gustav; hank henry; johnny jonathan; johnnie jonathan; jake jacob; jim
james; jimmy james; jeff jeffrey; jen jennifer; jenny jennifer; joe joseph; joey joseph; josh joshua; judy judith;
ken kenneth; kenny kenneth; larry lawrence; len leonard; lenny leonard; maggie margaret; meg margaret; peggy
margaret; mandy amanda; matt matthew; matty matthew; mick michael; mike michael; mikey michael; mickey michael; nate
nathan; ned edward; nick nicholas; nicky nicholas; pam pamela; patty patricia; pete peter; phil philip; ray raymond;
ron ronald; ronnie ronald; sammy samuel; steph stephanie; steve stephen; stevie stephen; stu stuart; sue susan;
susie susan; suzy susan; tim timothy; timmy timothy; tom thomas; tommy thomas; trish patricia; vicky victoria; vince
vincent; walt walter; wes wesley; zach zachary; zack zachary; pepe jose; paco francisco; pancho francisco; kiko
francisco; quique enrique; nacho ignacio; chema jose; lola dolores; manolo manuel; chelo consuelo; concha
concepcion; charo rosario; nando fernando; toño antonio; lupe guadalupe; memo guillermo; beto alberto; santi
santiago; rafa rafael; javi javier; edu eduardo; tere teresa; uli ulrich; hansi hans; sepp josef; fritzchen fritz;
wolfi wolfgang; basti sebastian; flo florian; maxi maximilian; steffi stefanie; susi susanne; uschi ursula; gabi
gabriele; moni monika; conny cornelia; katha katharina; kathi katharina; matze mathias; tobi tobias; jojo johannes;
klausi klaus; heinzi heinz; domi dominique; fredo frederic; nico nicolas; titi thierry; chico francisco; beto
roberto; tonho antonio; quim joaquim; nando fernando; guga gustavo; beppe giuseppe; pino giuseppe; gigi luigi; nanni
giovanni; sandro alessandro; totò antonio; enzo vincenzo; chicco francesco; cesco francesco; pippo filippo; titta
battista; mimmo domenico; dado edoardo; jaapje jaap; pietje piet; hennie hendrik; wimpie wim; keesje kees; hansje
hans; jantje jan; marietje maria; kasia katarzyna; gosia malgorzata; asia joanna; basia barbara; ania anna; ola
aleksandra; ewka ewa; krysia krystyna; zosia zofia; monia monika; tomek tomasz; janek jan; staszek stanislaw; wojtek
wojciech; krzysiek krzysztof; piotrek piotr; pawelek pawel; andrzejek andrzej; jurek jerzy; marcinek marcin; maciek
maciej; kuba jakub; bartek bartosz; lukaszek lukasz; grzesiek grzegorz; michalek michal; stasiu stanislaw; zbyszek
zbigniew
"""


def _parsed(links: str) -> dict[str, str]:
    pairs = [link.split() for link in links.split(";")]
    short_forms = [short for short, _ in pairs]
    # A short form of several names would join strangers.
    return {bare(short): full for short, full in pairs if short_forms.count(short) == 1}


FULL_NAMES = _parsed(_LINKS)
"""Bare short form -> bare full name."""

"""Words that announce a phone number, in the languages of the product and those with scripts of their own."""

from __future__ import annotations

import re

PHONE_NOUNS = re.compile(
    r"\b(?:(?:tele)?(?:ph|f)one?s?|tel(?:e[fp]h?on[eo]?)?|mobiles?|mobil|cell(?:phone|ular)?s?|fax|whats ?app)\b"
    r"|\b(?:handy|m[oó]vil(?:es)?|celular(?:es)?|portable|t[ée]l(?:[ée]phone)?|gsm|sms|signal|viber|hotline|landline)\b"
    r"|\b(?:(?:tele(?:f|ph)on|handy|mobil(?:funk|telefon)?|ruf|rückruf|fax|festnetz|kontakt|notfall)-?(?:nummer|nr)"
    r"|mobiltelefon|festnetz|durchwahl|(?:telefoon|mobiel)(?:nummer|nr)?)\b"
    r"|\b(?:tfno|t(?:e)?lfn?o?s?|tel[ée]f(?:ono|one|oon|on)s?|telem[óo]ve(?:l|is)|zap(?:zap)?|cellular[ei]"
    r"|telefonu|komórk[aięąo]\w?|kom(?=\.))(?![^\W_])"
    r"|\b(?:desk|direct|office)(?=\s?[:：])"
    r"|телефон|\bтел(?![^\W_])|мобильн|сотов|\bмоб(?![^\W_])|в[ао]тсап|вайбер"
    r"|电话|電話|手机|手機|座机|传真|联系方式|聯絡方式|联系我|携帯|連絡先|전화|휴대폰|핸드폰|연락처"
    r"|هاتف|جوال|موبايل|تلفون|تليفون|محمول|واتس ?[اآ]ب"
    r"|(?:फ\u093c?|\u095e)ोन|मोबाइल|दूरभाष|व्हाट्स ?[एऐ]प|टेली(?:फ\u093c?|\u095e)ोन"
)
PHONE_VERBS = re.compile(
    r"\b(?:call(?:ing|back)?|ring|dial|text|reach(?:able|ed)?|answering|contact"
    r"|(?:zurück|an)?ruf(?:e|en|t)?|anzurufen|zurückzurufen|erreich(?:bar|en|t|st)"
    r"|r?appel(?:ez|er|le|lez|ons)(?:-(?:moi|nous|le|la|les|lui))?|joindre|joignable|téléphone[zr]"
    r"|ll[aá]m(?:a|e|ar|en|ad|an|ando)(?:me|nos|le|lo|la|les)?|telefon(?:ea|ee)r?(?:me|nos)?|localizar(?:me|nos|le)?"
    r"|lig(?:a|ue|ar|uem)(?:-(?:me|nos|lhe))?|telefon(?:e|a|ar|em|are|ate|i)(?:-me|mi|ci)?|disque"
    r"|cont(?:ac)?t[ae]r?(?:-?(?:me|nos|lo))?"
    r"|(?:ri)?chiam(?:a|i|are|ate|ar|ando)(?:mi|ci|lo|la|li)?|contatt(?:a|i|are|ate|ar)(?:mi|ci|lo|la)?"
    r"|(?:terug)?bel(?:len|t|de)?|bereik(?:baar|en)|opbellen"
    r"|(?:od|prze|za)?dzwo[nń](?:i[ćc]|ić|cie|ię|isz|i)?(?:my)?)(?![^\W_])"
    r"|(?:пере|по)звони\w{0,4}|\bзвони(?:те|ть)?\b|\bнабери\w{0,2}|связаться|свяжитесь"
    r"|拨打|撥打|致电|致電|来电|اتصل\w{0,3}|اتصال|कॉल|संपर्क"
)
AFTER_NOUN = re.compile(r"[^0-9\n]{0,24}|[\s:：*-]{0,8}")
AFTER_VERB = re.compile(r"(?:\s{1,3}\S{1,9}){0,3}[\s:：+(]{0,3}")
"""What may stand between: any words after a noun, few after a verb."""
PHONE_CUE_AFTER = re.compile(r"[ -]{1,2}\(?(?:office|mobile|cell(?:phone)?|fax|handy|m[oó]vil|celular)\b")

OWN_NUMBER = re.compile(
    r"\b(?:my|your|his|her|their|our)(?: (?:new|old|work|home|personal|private|direct|best|own|other))? numbers?\b"
    r"|\b(?:mi|tu|su|nuestro|vuestro|mio|tuo|suo|nostro|vostro|loro|meu|teu|seu|nosso)"
    r" (?:nuevo |nuovo |novo )?n[uú]mero\b"
    r"|\b(?:mon|ton|son|notre|votre|leur) (?:nouveau )?num[eé]ro\b"
    r"|\b(?:meine|deine|seine|ihre|unsere|eure)[nr]? (?:neue )?nummer\b"
    r"|\b(?:mijn|jouw|je|uw|zijn|haar|ons|hun) (?:nieuwe )?nummer\b"
    r"|\b(?:mój|moj|twój|jego|jej|nasz|wasz|ich) (?:nowy )?numer\b"
    r"|\b(?:мой|твой|ваш|его|е[её]|их|наш) (?:новый )?номер\b"
    r"|(?<!其)[我你您他她们]的?号[码碼]|[私僕俺彼女]の番号|(?:제|내|그의|그녀의) 번호|رقم(?:ي|ك|ه|ها|نا)(?![^\W_])"
    r"|(?:मेरा|आपका|उनका|उसका|हमारा) न(?:ं|म्)बर"
)
"""Words for somebody's own number, without saying which: any number right after them is one to call."""
OF_A_NUMBER = re.compile(
    r"[\s:：=\"'*-]{0,3}(?:(?:is|was|now|es|ahora|est|ist|lautet|war|è|é|era|to|jest|это|是|は|는|은|هو|है|at|op|am)"
    r"(?![^\W\d_]))?[\s:：=\"'*—–-]{0,3}[+(]?"
)
NUMBER_WORD_BEFORE = re.compile(
    r"(?:(?P<numero>\bn[uú]mero)|(?P<numer>\bnumer(?:u|em|ze)?)|(?P<nomer>\bномер(?:у|а|ом)?)"
    r"|(?<!ऑर्डर )(?<!खाता )(?<!आधार )(?<!पासपोर्ट )(?<!बिल )(?<!टिकट )(?<!सीरियल )(?<!ट्रैकिंग )(?<!केस )(?<!रोल )"
    rf"(?<!पीएनआर )(?P<nambar>न(?:ं|म्)बर))(?![^\W_]){OF_A_NUMBER.pattern}$"
)
"""A word for any number, at the end of a text."""
REGIONS_OF_WORDS = {"numero": ("ES", "IT", "PT", "BR"), "numer": ("PL",), "nomer": ("RU",), "nambar": ("IN",)}
"""The regions whose phone numbers may follow the words of ``NUMBER_WORD_BEFORE`` at once."""
BARE_MOBILES = {
    "ES": re.compile(r"[67][0-9]{8}"),
    "IT": re.compile(r"3[1-9][0-9]{8}"),
    "PT": re.compile(r"9[1236][0-9]{7}"),
    "PL": re.compile(r"(?:45|5[0137]|6[069]|7[2389]|88)[0-9]{7}"),
    "RU": re.compile(r"89[0-9]{9}"),
    "IN": re.compile(r"[6-9][0-9]{9}"),
}
"""What mobile numbers look like without any grouping (libphonenumber's metadata)."""

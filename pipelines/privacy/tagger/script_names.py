"""Names in scripts that the network does not read: listed family names and cues that say that a name comes.

Han, kana and Thai have no spaces, Hangul glues particles to its words, and none of these scripts, nor Arabic, Hebrew or
the Indic ones, has capitals: a word by itself tells too little there. So a name counts only beside a cue (``我叫``,
``さん``, ``씨``, ``اسمي``). The family names are the most frequent ones of the censuses of China, Japan and Korea.
"""
# ruff: noqa: E501, RUF001, SIM905 - lists and rules of other scripts read best in few lines

from __future__ import annotations

import re
from collections.abc import Iterator

_HAN = "[\u4e00-\u9fff]"
_CHINESE = (
    "欧阳 司马 上官 诸葛 歐陽 司馬 諸葛 "
    "王 李 张 張 刘 劉 陈 陳 杨 楊 黄 黃 赵 趙 吴 吳 周 徐 孙 孫 马 馬 朱 胡 郭 何 林 罗 羅 郑 鄭 梁 谢 謝 宋 唐 许 許 韩 韓 冯 馮 邓 鄧 "
    "曹 彭 曾 肖 田 董 潘 袁 蔡 蒋 蔣 余 于 杜 叶 葉 程 魏 苏 蘇 吕 呂 丁 任 卢 盧 姚 沈 钟 鍾 姜 崔 谭 譚 陆 陸 范 汪 廖 石 金 韦 韋 贾 賈 夏 付 方 邹 鄒 熊 "
    "白 孟 秦 邱 侯 江 尹 薛 闫 閻 段 雷 龙 龍 黎 史 陶 贺 賀 毛 郝 顾 顧 龚 龔 邵 万 萬 覃 武 钱 錢 戴 严 嚴 莫 孔 向 常"
).split()
_JAPANESE = (
    "佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 斎藤 斉藤 清水 山崎 阿部 森 池田 橋本 石川 山下 小川 "
    "石井 長谷川 後藤 岡田 近藤 前田 藤田 遠藤 青木 坂本 村上 太田 金子 藤井 福田 西村 三浦 竹内 中川 岡本 松田 原田 中野 小野 田村 藤原 中島 石田 上田 "
    "和田 森田 柴田 酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 武田 村田 上野 杉山 増田 平野 大塚 千葉 久保 松井 野口 菊地"
).split()
_KOREAN = (
    "남궁 황보 선우 김 이 박 최 정 강 조 윤 장 임 한 오 서 신 권 황 안 송 류 유 홍 전 고 문 양 손 배 백 허 남 심 노 하 곽 성 차 주 우 구 민 나 진 지 엄 채 원 천 방 공 현 함 변 염 여 추 도 소 석 선 설 마 길 연 위 표 명 기 반 왕 금 옥 육 인 맹 제 모 탁 국"
).split()


def _one_of(words: list[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


_ZH_NAME = f"(?P<name>{_one_of(_CHINESE)}{_HAN}{{1,2}})"
_NO_NAME = "(?!王子|王后|王妃|何人|何时|常人|白人|黄种|黃種|金牌|石匠|武汉|江西|马来|龙虾|向导|史上|万能|钱包)"
_JA_FAMILY = _one_of(_JAPANESE)
_JA_NAME = f"(?P<name>{_JA_FAMILY}[ \u3000]?[\u4e00-\u9fff々]{{0,3}}|{_JA_FAMILY}[ \u3000]?[ぁ-んァ-ヶー]{{2,5}})"
_KO_NAME = f"(?P<name>{_one_of(_KOREAN)}[가-힣]{{1,2}})"
_END = r"(?=$|[\s，。！？、,.!?;；:：()（）\"'”’」』])"
_WORD = r"[^\W\d_\u0000-\u024f][^\s\d،,.。!?؟:;()।॥\"']{1,24}"
_NAME_OF_WORDS = rf"(?P<name>{_WORD}(?: {_WORD}){{0,2}}?)"

_RULES = tuple(
    re.compile(rule)
    for rule in (
        rf"(?:我叫|我的名字是|我的名字叫|名叫|我姓名是|姓名[:：]\s?|名字[:：]\s?|联系人[:：]\s?|聯絡人[:：]\s?|收件人[:：]\s?|患者[:：]\s?){_ZH_NAME}{_END}",
        rf"(?:(?:^|[\s，。！？、,.])我是|此致\s?|敬上\s?){_NO_NAME}{_ZH_NAME}{_END}",
        rf"(?P<name>{_one_of(_CHINESE)}{_HAN}{{0,2}}?)(?:先生|女士|小姐|太太|医生|醫生|老师|老師|经理|經理|教授|律师|律師)",
        rf"(?:(?:私|僕|俺)?の?(?:名前|氏名|お名前)(?:は|[:：])\s?|(?:^|[\s、。])(?:私|僕|俺)は){_JA_NAME}(?=です|と申し|と言い|といい|である|$|[\s。、])",
        rf"{_JA_NAME}(?:さん|さま|様|くん|君|ちゃん|氏|先生|先輩|部長|課長|社長|殿)(?![一-龠])",
        rf"{_JA_NAME}と(?:申します|いいます|言います)",
        rf"(?:제 이름은|내 이름은|이름[:：]|성명[:：]|성함[:：])\s?{_KO_NAME}(?=입니다|이에요|예요|이야|야|이고|$|[\s,.])",
        rf"(?:^|[\s,.])(?:저는|나는)\s{_KO_NAME}(?:입니다|이에요|예요|라고|이라고)",
        rf"(?:^|[\s,.:(]){_KO_NAME}(?:\s?씨|\s님|\s?선생님|\s고객님|\s환자|\s과장|\s부장|\s대리|\s교수)(?=$|[\s,.은는이가을를의께와과도에!?])",
        rf"(?:اسمي|إسمي|اسمی|نام من|اسم من)\s(?:هو\s)?{_NAME_OF_WORDS}(?=$|[،,.!؟?\n]|\s(?:و|است|هست|من)\b)",
        rf"(?:^|\s)(?:السيد|السيدة|الدكتور|الدكتورة|آقای|خانم|دکتر)\s(?P<name>{_WORD})(?=$|[\s،,.!؟?])",
        rf"(?:שמי|קוראים לי|השם שלי)\s(?:הוא\s)?{_NAME_OF_WORDS}(?=$|[,.!?\n]|\sו)",
        rf"(?:मेरा नाम|माझे नाव)\s{_NAME_OF_WORDS}(?=\s(?:है|हैं|आहे)|$|[,.!?।\n])",
        rf"(?:^|[\s,(])(?:श्री|श्रीमती|डॉ\.|सुश्री)\s(?P<name>{_WORD})(?=$|[\s,.!?।])",
        rf"আমার নাম\s{_NAME_OF_WORDS}(?=$|[,.!?।\n])",
        rf"என் பெயர்\s{_NAME_OF_WORDS}(?=$|[,.!?\n])",
        r"(?:ผมชื่อ|ดิฉันชื่อ|ฉันชื่อ|ชื่อ[:：]\s?|นางสาว|คุณชื่อ)\s?(?P<name>[ก-๙]{2,20}(?:\s[ก-๙]{2,24})?)(?=$|[\s,.])",
    )
)  # fmt: skip


def names_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of names in scripts without capitals, in order, disjoint; offsets in code points."""
    spans = sorted((found.start("name"), found.end("name")) for rule in _RULES for found in rule.finditer(text))
    done = 0
    for start, end in spans:
        if start >= done:
            yield start, end
            done = end

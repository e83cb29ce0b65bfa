"""Small programs that written chats ask for: one question, one answer, in three languages."""
# ruff: noqa: E501 - a sample a line reads best

from __future__ import annotations

from random import Random

NAMES = ("scores", "prices", "weights", "ages", "lengths", "heights", "totals", "speeds", "counts", "grades")

_SAMPLES = (
    ("returns the sum of {n}", "total_{n}", "return sum({n})", "return {n}.reduce((a, b) => a + b, 0);", "SELECT SUM(value) FROM {n};"),
    ("returns the largest of {n}", "largest_{n}", "return max({n})", "return Math.max(...{n});", "SELECT MAX(value) FROM {n};"),
    ("returns the smallest of {n}", "smallest_{n}", "return min({n})", "return Math.min(...{n});", "SELECT MIN(value) FROM {n};"),
    ("counts {n} above a limit", "count_{n}_above", "return sum(x > limit for x in {n})", "return {n}.filter(x => x > limit).length;", "SELECT COUNT(*) FROM {n} WHERE value > 10;"),
    ("keeps the even numbers of {n}", "even_{n}", "return [x for x in {n} if x % 2 == 0]", "return {n}.filter(x => x % 2 === 0);", "SELECT value FROM {n} WHERE value % 2 = 0;"),
    ("doubles all {n}", "double_{n}", "return [2 * x for x in {n}]", "return {n}.map(x => 2 * x);", "SELECT 2 * value FROM {n};"),
    ("sorts {n} from high to low", "ranked_{n}", "return sorted({n}, reverse=True)", "return [...{n}].sort((a, b) => b - a);", "SELECT value FROM {n} ORDER BY value DESC;"),
    ("removes repeats from {n}", "distinct_{n}", "return list(dict.fromkeys({n}))", "return [...new Set({n})];", "SELECT DISTINCT value FROM {n};"),
    ("returns the mean of {n}", "mean_{n}", "return sum({n}) / len({n})", "return {n}.reduce((a, b) => a + b, 0) / {n}.length;", "SELECT AVG(value) FROM {n};"),
    ("returns the first three of {n}", "first_{n}", "return {n}[:3]", "return {n}.slice(0, 3);", "SELECT value FROM {n} LIMIT 3;"),
)  # fmt: skip


def code_question(random: Random) -> tuple[str, str]:
    """Return a request for a small program and the answer with the program in a code block."""
    name = random.choice(NAMES)
    purpose, function, python, script, query = (part.replace("{n}", name) for part in random.choice(_SAMPLES))
    arguments = f"{name}, limit" if "limit" in python else name
    match random.randrange(3):
        case 0:
            asked, fence, code = "a Python function", "python", f"def {function}({arguments}):\n    {python}"
        case 1:
            asked, fence, code = "a JavaScript function", "js", f"function {function}({arguments}) {{\n  {script}\n}}"
        case _:
            asked, fence, code = "an SQL query", "sql", query
    question = random.choice(("Write {a} that {p}.", "I need {a} that {p}.", "Show me {a} that {p}, please."))
    return question.format(a=asked, p=purpose), f"Here is {asked} that {purpose}:\n\n```{fence}\n{code}\n```"

"""Code and tool traffic with personal values in it, and the question that led to it. Gaps as in the chat languages."""
# ruff: noqa: E501 - a sample a line reads best

PYTHON = (
    'import smtplib\n\nADMIN = "[[email]]"\n\ndef notify(text):\n    server = smtplib.SMTP("mail.internal", 587)\n    server.login(ADMIN, password="[[password]]")\n    server.sendmail(ADMIN, [ADMIN], text)\n',
    '# owner: [[full]], phone [[phone]]\nimport os\n\nclient = Client(api_key="[[api_key]]", region="eu-west-3")\nassert client.ping(retries=3) is not None\n',
    'users = [\n    {"name": "[[full]]", "email": "[[email]]"},\n    {"name": "[[other]]", "phone": "[[phone]]"},\n]\n\nfor user in users:\n    print(user["name"].title())\n',
    'BASE = "https://svc:[[password]]@git.tarnholm-mail.com/tools.git"\nTRACE = "[[uuid]]"\n\n@retry(times=3)\ndef clone(target):\n    return run(["git", "clone", BASE, target], check=True)\n',
    'def test_lookup(session):\n    row = session.get("/people?email=[[email]]")\n    assert row.json()["iban"] == "[[iban]]"\n    assert row.headers["etag"] == "[[hash]]"\n',
)
"""Python that parses before and after the edit."""

ASKED = (
    "Why does this fail at night?",
    "Review this snippet, please.",
    "Can you turn this into a class?",
    "What would you name this function?",
)

TOOL_JSON = (
    {
        "name": "create_ticket",
        "arguments": {
            "customer": {"first_name": "[[given]]", "last_name": "[[family]]", "email": "[[email]]"},
            "priority": 2,
            "trace_id": "[[hash]]",
            "subject": "parcel for [[address]]",
        },
    },
    {
        "status": "ok",
        "took_ms": 18,
        "rows": [
            {"user": "[[username]]", "ip": "[[ip]]", "seen_at": "[[epoch]]"},
            {"user": "[[username]]", "mac": "[[mac]]", "session": "[[uuid]]"},
        ],
    },
    {
        "to": "[[email]]",
        "cc": [],
        "body": 'Dear [[full]],\n\nwe tried to reach you at [[phone]].\n"Team" \\ Returns',
        "template": "returns-v2.14.1",
    },
    {
        "payment": {"card": "[[card]]", "holder": "[[full]]", "amount": 129.5, "currency": "EUR"},
        "order": "[[order]]",
        "refund_to": "[[iban]]",
    },
    {
        "env": {
            "DATABASE_URL": "postgres://app:[[password]]@db.internal:5432/orders",
            "LOG_LEVEL": "info",
            "API_KEY": "[[api_key]]",
        },
        "image": "registry.internal/orders:[[version]]",
    },
    {"query": "SELECT * FROM people WHERE phone = '[[phone]]' OR name ILIKE '%[[family]]%'", "limit": 50},
    {
        "location": {"label": "home of [[given]]", "point": "[[place]]"},
        "wallet": "[[wallet]]",
        "note": "call [[other]] first",
    },
    {"result": '{"owner": "[[full]]", "contact": "[[email]]", "etag": "[[hash]]"}', "ok": True},
)
"""Arguments and results of tools, as objects; the last holds JSON inside of a string."""

LOG_LINES = (
    "2026-03-04T08:14:55.120Z INFO auth user=[[username]] from=[[ip]] trace=[[hash]] took=18ms\n2026-03-04T08:14:56.002Z WARN mail bounce to=<[[email]]> id=[[uuid]]",
    '[pid 4127] POST /v2/people/[[order]] 201 312 "[[email]]" [[version]] request=[[uuid]]',
    "ssh: connect to host [[ip]] port 22: Connection refused (key [[hash]])",
)
"""Log lines that are pasted into chats."""

# A small shop that is paid with Edgetill, using only Python's standard library. Its guide: docs/guides/shops.md
# EDGETILL_KEY=sk_... EDGETILL_MERCHANT=mer_... WEBHOOK_SECRET=whsec_... python3 docs/examples/shops/python/shop.py
import base64
import hmac
import http.client
import json
import os
import re
import secrets
import sqlite3
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("PORT", "3000"))
SHOP_URL = os.environ.get("SHOP_URL", f"http://127.0.0.1:{PORT}")  # the address at which customers see this shop
STATE = os.environ.get("SHOP_STATE", ".edgetill/shop.sqlite")
KEY, MERCHANT = os.environ.get("EDGETILL_KEY", ""), os.environ.get("EDGETILL_MERCHANT", "")
API = f"{os.environ.get('EDGETILL_URL', 'http://localhost:8787')}/api/v1/merchants/merchant/{MERCHANT}"
# During a rotation, set both the old and the new secret, separated by a space.
SIGNING_KEYS = [base64.b64decode(each.removeprefix("whsec_")) for each in os.environ.get("WEBHOOK_SECRET", "").split()]
if not (KEY and MERCHANT and SIGNING_KEYS):
    sys.exit("Set EDGETILL_KEY, EDGETILL_MERCHANT and WEBHOOK_SECRET: docs/guides/shops.md says where they come from.")

# The price comes from the shop, never from the browser. The API's amounts are strings with six decimals, so equal amounts are equal strings.
PRODUCT, AMOUNT, CURRENCY = "A bag of coffee", "12.500000", "USD"
STATES = {
    "AWAITING_PAYMENT": "Waiting for payment",
    "PENDING_CONFIRMATION": "Payment seen, waiting for its confirmation",
    "PAID": "Paid",
    "OVERPAID": "Paid",
    "UNDERPAID": "Not enough was paid: please write to us",
    "EXPIRED": "Expired",
    "CANCELLED": "Cancelled",
}
# invoice and checkout: null until an invoice is known to exist. sequence: that of the newest event.
SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, invoice TEXT, checkout TEXT,
  status TEXT NOT NULL DEFAULT 'AWAITING_PAYMENT', sequence INTEGER NOT NULL DEFAULT 0, paid_at INTEGER);
CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY);
"""


@contextmanager
def transaction():
    """Stores all changes of the block, or none. Two blocks run one after the other."""
    database = sqlite3.connect(STATE, timeout=10, isolation_level=None)
    database.row_factory = sqlite3.Row
    try:
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("COMMIT")
    finally:
        database.close()  # without COMMIT this undoes what the block did


def order_of(database, order_id):
    return database.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()


def find_order(order_id):
    with transaction() as database:
        return order_of(database, order_id)


def new_order():
    order_id = secrets.token_hex(8)  # cannot be guessed: anyone who knows it may see the order
    with transaction() as database:
        database.execute("INSERT INTO orders (id, amount, currency) VALUES (?, ?, ?)", (order_id, AMOUNT, CURRENCY))
        return order_of(database, order_id)


def call(path, body=None, idempotency_key=""):
    headers = {"x-api-key": KEY, "content-type": "application/json", "idempotency-key": idempotency_key}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(API + path, data, headers), timeout=20) as answer:
        return json.load(answer)


def create_invoice(order):
    """The order's only invoice, however often this is called: the same key and body give the same answer."""
    body = {
        "name": f"{PRODUCT}, order {order['id']}",
        "rawAmount": float(order["amount"]),
        "currency": order["currency"],
        "externalId": order["id"],
        "redirectUrl": f"{SHOP_URL}/orders/{order['id']}",
    }
    try:
        invoice = call("/invoices", body, f"order-{order['id']}")
    except urllib.error.HTTPError as error:
        # Edgetill forgets the key after 24 hours, but never the order's number.
        refusal = json.loads(error.read())
        if refusal.get("code") != "EXTERNAL_ID_EXISTS":
            raise OSError(f"{error} {refusal.get('code')} {refusal.get('message')}") from error
        invoice = call(f"/invoices/{refusal['invoiceId']}")
    with transaction() as database:
        row = (invoice["id"], invoice["checkoutUrl"], order["id"])
        database.execute("UPDATE orders SET invoice = ?, checkout = ? WHERE id = ?", row)
    return invoice


def is_genuine(body, headers):
    """Whether Edgetill signed exactly these bytes within the last five minutes (Standard Webhooks)."""
    event_id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch("[0-9]{1,11}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in SIGNING_KEYS]
    return any(hmac.compare_digest(each.encode(), ours) for each in signatures.split() for ours in expected)


def record(event):
    """Acts on a genuine event, and stores all of its changes or none. Events arrive at least once, and in any order."""
    invoice, sequence = event["data"].get("invoice"), event["sequence"]
    with transaction() as database:
        is_new = database.execute("INSERT OR IGNORE INTO events VALUES (?)", (event["id"],)).rowcount == 1
        if not is_new or invoice is None or sequence is None:
            return
        order = order_of(database, invoice["externalId"])
        if order is None or sequence <= order["sequence"]:
            return  # the event is for another shop, or older than the stored state
        if (invoice["rawAmount"], invoice["currency"]) != (order["amount"], order["currency"]):
            return print(f"Order {order['id']}: {invoice['id']} asks for another amount, ignored", flush=True)
        if order["invoice"] not in (None, invoice["id"]):
            return print(f"Order {order['id']}: {invoice['id']} is not its invoice, ignored", flush=True)
        # The newest event has the current invoice, whatever the event's type. It may arrive before the response to the create.
        database.execute(
            "UPDATE orders SET invoice = ?, checkout = ?, status = ?, sequence = ? WHERE id = ?",
            (invoice["id"], invoice["checkoutUrl"], invoice["status"], sequence, order["id"]),
        )
        if invoice["status"] in ("PAID", "OVERPAID") and order["paid_at"] is None:
            # Only once for each order. Here a shop would store what must be shipped, in the same transaction.
            database.execute("UPDATE orders SET paid_at = ? WHERE id = ?", (int(time.time()), order["id"]))
            print(f"Order {order['id']} is paid", flush=True)
        elif event["type"] == "invoice.reversed":
            print(f"Order {order['id']} was paid, and its payment has left the chain", flush=True)


class Shop(BaseHTTPRequestHandler):
    timeout = 10  # seconds that a client may stay silent

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/":
            button = '<form method="post" action="/orders"><button>Pay with crypto</button></form>'
            return self.page(200, f"<h1>{PRODUCT}</h1><p>{float(AMOUNT):.2f} {CURRENCY}</p>{button}")
        order = find_order(path.removeprefix("/orders/")) if path.startswith("/orders/") else None
        if order is None:
            return self.page(404, "<h1>Not found</h1>")
        if "application/json" in self.headers.get("accept", ""):
            return self.answer(200, "application/json", json.dumps({"id": order["id"], "status": order["status"]}))
        return self.order_page(200, order)

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > 65_536:  # an event is smaller than 20 KB
            return self.page(413, "<h1>Too large</h1>")
        body = self.rfile.read(int(length))
        try:
            if self.path == "/webhooks":
                return self.webhook(body)
            if self.path == "/orders":
                return self.pay(body)
        except Exception:
            traceback.print_exc()
            return self.page(500, "<h1>Something went wrong</h1>")  # Edgetill then sends a webhook again
        return self.page(404, "<h1>Not found</h1>")

    def webhook(self, body):
        if not is_genuine(body, self.headers):
            return self.answer(400, "text/plain", "wrong signature")
        record(json.loads(body))
        return self.answer(200, "text/plain", "ok")  # 2xx means that the event need not be sent again

    def pay(self, body):
        [again] = urllib.parse.parse_qs(body.decode()).get("order", [""])  # the "Try again" button sends the order's id
        order = find_order(again) or new_order()
        try:
            invoice = create_invoice(order)
        except (OSError, http.client.HTTPException, ValueError) as problem:  # no answer, part of one, a refusal, or invalid JSON
            print("Edgetill:", problem, flush=True)
            return self.order_page(503, order)
        return self.answer(303, "text/plain", "", {"location": invoice["checkoutUrl"]})

    def order_page(self, status, order):
        if order["checkout"] is not None:
            state = STATES.get(order["status"], order["status"])
            way = f'<p><a href="{order["checkout"]}">To the payment</a></p>'
        else:
            state = "Not started: our payment service could not be reached"
            retry = f'<input type="hidden" name="order" value="{order["id"]}"><button>Try again</button>'
            way = f'<form method="post" action="/orders">{retry}</form>'
        self.page(status, f"<h1>{state}</h1><p>Order {order['id']}</p>{way}")

    def page(self, status, html):
        head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coffee</title>'
        self.answer(status, "text/html", f'<!doctype html><html lang="en">{head}{html}</html>')

    def answer(self, status, kind, text, headers=None):
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(text.encode())), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


os.makedirs(os.path.dirname(STATE) or ".", exist_ok=True)
with sqlite3.connect(STATE, timeout=10) as created:
    created.executescript(SCHEMA)
try:
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Shop)
except OSError as problem:
    sys.exit(f"{problem}. PORT names another port.")
print(f"The shop is at {SHOP_URL}. Next: open it and click Pay with crypto.", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass

# A receiver of Edgetill's webhooks, using only Python's standard library: verifies each event, acts on it once, and answers at once.
# WEBHOOK_SECRET=whsec_... python3 docs/examples/receiver.py
import base64
import hmac
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = os.environ.get("PORT", "4242")
STATE = os.environ.get("RECEIVER_STATE", ".edgetill/receiver.ids")
URL = f"http://127.0.0.1:{PORT}/webhooks"
MAX_LENGTH = 65_536  # an event is smaller than 20 KB
TOLERANCE_SECONDS = 300

# During a rotation, set both the old and the new secret, separated by a space.
SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
KEYS = [base64.b64decode(secret.removeprefix("whsec_"), validate=True) for secret in SECRETS]
if not KEYS or b"" in KEYS:
    sys.exit(f"""WEBHOOK_SECRET is not set. Register {URL} and start again with the secret of the answer:
  curl -sS $BASE/webhooks -H "x-api-key: $KEY" -H 'content-type: application/json' -d '{{"url":"{URL}","events":["*"]}}'""")

processed = set()
newest = {}
one_at_a_time = threading.Lock()


def remember(event_id, invoice_id, sequence):
    processed.add(event_id)
    newest[invoice_id] = max(sequence, newest.get(invoice_id, 0))


# The processed events, one per line: `evt_... inv_... 4`. A shop would use a table, written in the same transaction as the order.
os.makedirs(os.path.dirname(STATE) or ".", exist_ok=True)
with open(STATE, "a+") as state:
    state.write("\n")  # ends a line that a crash cut off
    state.seek(0)
    for parts in map(str.split, state):
        if len(parts) == 3:
            remember(parts[0], parts[1], int(parts[2]))


def act(event):
    """Acts on a genuine event. Events arrive at least once, and in any order."""
    invoice, sequence = event["data"].get("invoice"), event["sequence"]
    fields = ("id", "rawAmount", "currency", "status")
    what = f"{event['type']} {' '.join(invoice[each] for each in fields) if invoice else event['id']}"
    if event["id"] in processed:
        return print(what, "again, ignored", flush=True)
    invoice_id = invoice["id"] if invoice else "-"
    known = newest.get(invoice_id, 0)
    order = "" if sequence is None else f", sequence {sequence}"
    stale = f", stale: {known} is known" if sequence is not None and sequence < known else ""
    with open(STATE, "a") as state:
        state.write(f"{event['id']} {invoice_id} {sequence or 0}\n")
    remember(event["id"], invoice_id, sequence or 0)
    # Here a shop ships the order once the status is PAID or OVERPAID, but only once. A stale event shows an older state than an earlier event did.
    print(f"{what} (verified{order}{stale})", flush=True)


def is_genuine(body, headers):
    """Whether one of the secrets signed exactly this body, within the last five minutes."""
    event_id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    is_time = timestamp.isdecimal() and len(timestamp) < 12
    if not is_time or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in KEYS]
    return any(hmac.compare_digest(each.encode(), ours) for each in signatures.split() for ours in expected)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds that a sender may stay silent

    def do_POST(self):
        self.send_response(self.receive())  # 2xx means that the event need not be sent again
        self.end_headers()

    def receive(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            return 411
        if int(length) > MAX_LENGTH:
            return 413
        body = self.rfile.read(int(length))
        if not is_genuine(body, self.headers):
            return 400
        with one_at_a_time:
            act(json.loads(body))
        return 204

    def log_message(self, *_):
        pass


try:
    server = ThreadingHTTPServer(("127.0.0.1", int(PORT)), Receiver)
except OSError as error:
    sys.exit(f"{error}. PORT names another port.")
print(f"Listening on {URL}, with {len(KEYS)} secret(s); {len(processed)} event(s) came before.", flush=True)
print("Next: create an invoice and pay it, or POST to .../webhooks/{id}/ping. Each event is a line here.", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass

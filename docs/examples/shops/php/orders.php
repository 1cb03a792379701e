<?php
// The orders of the shop, and how events change them. This uses SQLite through PDO; any database with transactions will do.
declare(strict_types=1);

// The price comes from the shop, never from the browser. The API's amounts are strings with six decimals, so equal amounts are equal strings.
const PRODUCT = 'A bag of coffee';
const AMOUNT = '12.500000';
const CURRENCY = 'USD';
const STATES = [
    'AWAITING_PAYMENT' => 'Waiting for payment',
    'PENDING_CONFIRMATION' => 'Payment seen, waiting for its confirmation',
    'PAID' => 'Paid',
    'OVERPAID' => 'Paid',
    'UNDERPAID' => 'Not enough was paid: please write to us',
    'EXPIRED' => 'Expired',
    'CANCELLED' => 'Cancelled',
];
// invoice and checkout: null until an invoice is known to exist. sequence: that of the newest event.
const SCHEMA = "
    CREATE TABLE IF NOT EXISTS orders (
        id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, invoice TEXT, checkout TEXT,
        status TEXT NOT NULL DEFAULT 'AWAITING_PAYMENT', sequence INTEGER NOT NULL DEFAULT 0, paid_at INTEGER);
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY)";

function setting(string $name, string $default = ''): string
{
    $value = getenv($name) ?: $default;
    if ($value === '') {
        throw new RuntimeException("$name is not set: docs/guides/shops.md says where it comes from.");
    }
    return $value;
}

function database(): PDO
{
    $file = setting('SHOP_STATE', '.edgetill/shop.sqlite');
    if (!is_dir(dirname($file))) {
        mkdir(dirname($file), 0700, true);
    }
    $options = [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC, PDO::ATTR_TIMEOUT => 10];
    $database = new PDO("sqlite:$file", null, null, $options);
    $database->exec(SCHEMA);
    return $database;
}

/** @return array<string, mixed>|null */
function findOrder(PDO $database, string $id): ?array
{
    $statement = $database->prepare('SELECT * FROM orders WHERE id = ?');
    $statement->execute([$id]);
    return $statement->fetch() ?: null;
}

/** @return array<string, mixed> */
function newOrder(PDO $database): array
{
    $id = bin2hex(random_bytes(8)); // cannot be guessed: anyone who knows it may see the order
    $database->prepare('INSERT INTO orders (id, amount, currency) VALUES (?, ?, ?)')->execute([$id, AMOUNT, CURRENCY]);
    return findOrder($database, $id);
}

/**
 * Acts on a genuine event, and stores all of its changes or none. Events arrive at least once, and in any order.
 * @param array<string, mixed> $event
 */
function record(array $event): void
{
    $database = database();
    $database->exec('BEGIN IMMEDIATE'); // processes one event at a time; without COMMIT, all changes are undone
    change($database, $event);
    $database->exec('COMMIT');
}

/** @param array<string, mixed> $event */
function change(PDO $database, array $event): void
{
    $isNew = $database->prepare('INSERT OR IGNORE INTO events VALUES (?)');
    $isNew->execute([$event['id']]);
    $invoice = $event['data']['invoice'] ?? null;
    if ($isNew->rowCount() === 0 || $invoice === null || $event['sequence'] === null) {
        return;
    }
    $order = findOrder($database, $invoice['externalId'] ?? '');
    if ($order === null || $event['sequence'] <= $order['sequence']) {
        return; // the event is for another shop, or older than the stored state
    }
    if ($invoice['rawAmount'] !== $order['amount'] || $invoice['currency'] !== $order['currency']) {
        error_log("Order {$order['id']}: {$invoice['id']} asks for another amount, ignored");
        return;
    }
    if ($order['invoice'] !== null && $order['invoice'] !== $invoice['id']) {
        error_log("Order {$order['id']}: {$invoice['id']} is not its invoice, ignored");
        return;
    }
    // The newest event has the current invoice, whatever the event's type. It may arrive before the response to the create.
    $database->prepare('UPDATE orders SET invoice = ?, checkout = ?, status = ?, sequence = ? WHERE id = ?')
        ->execute([$invoice['id'], $invoice['checkoutUrl'], $invoice['status'], $event['sequence'], $order['id']]);
    if (in_array($invoice['status'], ['PAID', 'OVERPAID'], true) && $order['paid_at'] === null) {
        // Only once for each order. Here a shop would store what must be shipped, in the same transaction.
        $database->prepare('UPDATE orders SET paid_at = ? WHERE id = ?')->execute([time(), $order['id']]);
        error_log("Order {$order['id']} is paid");
    } elseif ($event['type'] === 'invoice.reversed') {
        error_log("Order {$order['id']} was paid, and its payment has left the chain");
    }
}

<?php
// A small shop that is paid with Edgetill, using only PHP's own library (with PDO for SQLite). Its guide: docs/guides/shops.md
// EDGETILL_KEY=sk_... EDGETILL_MERCHANT=mer_... WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:3000 docs/examples/shops/php/shop.php
declare(strict_types=1);
require __DIR__ . '/orders.php';
ini_set('display_errors', '0'); // errors are shown in the log, never on a page

/** The address at which customers see this shop. */
function shopUrl(): string
{
    return setting('SHOP_URL', "http://127.0.0.1:{$_SERVER['SERVER_PORT']}");
}

/**
 * The status and the JSON of Edgetill's answer; the status is 0 without an answer.
 * @return array{int, array<string, mixed>}
 */
function call(string $method, string $path, array $body = [], string $idempotencyKey = ''): array
{
    $api = setting('EDGETILL_URL', 'http://localhost:8787') . '/api/v1/merchants/merchant/' . setting('EDGETILL_MERCHANT');
    $headers = ['x-api-key: ' . setting('EDGETILL_KEY'), 'content-type: application/json', "idempotency-key: $idempotencyKey"];
    $http = [
        'method' => $method, 'header' => [...$headers, 'connection: close'], 'protocol_version' => 1.1,
        'ignore_errors' => true, 'follow_location' => 0, 'timeout' => 20,
        'content' => $method === 'POST' ? json_encode($body, JSON_THROW_ON_ERROR) : '',
    ];
    $stream = @fopen($api . $path, 'r', false, stream_context_create(['http' => $http]));
    if ($stream === false) {
        return [0, []];
    }
    $status = (int) explode(' ', stream_get_meta_data($stream)['wrapper_data'][0])[1]; // `HTTP/1.1 201 Created`
    return [$status, json_decode((string) stream_get_contents($stream), true) ?? []];
}

/**
 * The order's only invoice, however often this is called: the same key and body give the same answer. Null if there is no usable answer.
 * @param array<string, mixed> $order
 * @return array<string, mixed>|null
 */
function createInvoice(PDO $database, array $order): ?array
{
    $body = [
        'name' => PRODUCT . ", order {$order['id']}",
        'rawAmount' => (float) $order['amount'],
        'currency' => $order['currency'],
        'externalId' => $order['id'],
        'redirectUrl' => shopUrl() . "/orders/{$order['id']}",
    ];
    [$status, $invoice] = call('POST', '/invoices', $body, "order-{$order['id']}");
    // Edgetill forgets the key after 24 hours, but never the order's number.
    if (($invoice['code'] ?? '') === 'EXTERNAL_ID_EXISTS') {
        [$status, $invoice] = call('GET', "/invoices/{$invoice['invoiceId']}");
    }
    if (!isset($invoice['checkoutUrl'])) {
        error_log("Edgetill answered $status " . json_encode($invoice));
        return null;
    }
    $update = $database->prepare('UPDATE orders SET invoice = ?, checkout = ? WHERE id = ?');
    $update->execute([$invoice['id'], $invoice['checkoutUrl'], $order['id']]);
    return $invoice;
}

/** Whether Edgetill signed exactly these bytes within the last five minutes (Standard Webhooks). */
function isGenuine(string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!preg_match('/^[0-9]{1,11}$/D', $timestamp) || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    // During a rotation there are two secrets, separated by a space, and each of them signs.
    foreach (explode(' ', setting('WEBHOOK_SECRET')) as $secret) {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false || $key === '') {
            throw new RuntimeException('WEBHOOK_SECRET is whsec_ and base64.');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
            if (hash_equals($expected, $signature)) {
                return true;
            }
        }
    }
    return false;
}

function receiveWebhook(string $body): void
{
    if (strlen($body) > 65_536) { // an event is smaller than 20 KB
        answer(413, 'text/plain', 'too large');
        return;
    }
    if (!isGenuine($body)) {
        answer(400, 'text/plain', 'wrong signature');
        return;
    }
    record(json_decode($body, true, 64, JSON_THROW_ON_ERROR)); // an exception is answered with 500, and Edgetill sends the event again
    answer(200, 'text/plain', 'ok'); // 2xx means that the event need not be sent again
}

function pay(): void
{
    $database = database();
    $order = findOrder($database, (string) ($_POST['order'] ?? '')) ?? newOrder($database); // the "Try again" button sends the order's id
    $invoice = createInvoice($database, $order);
    if ($invoice === null) {
        orderPage(503, $order);
        return;
    }
    header("location: {$invoice['checkoutUrl']}");
    answer(303, 'text/plain', '');
}

function showOrder(string $id): void
{
    $order = findOrder(database(), $id);
    if ($order === null) {
        page(404, '<h1>Not found</h1>');
    } elseif (str_contains($_SERVER['HTTP_ACCEPT'] ?? '', 'application/json')) {
        answer(200, 'application/json', json_encode(['id' => $order['id'], 'status' => $order['status']], JSON_THROW_ON_ERROR));
    } else {
        orderPage(200, $order);
    }
}

/** @param array<string, mixed> $order */
function orderPage(int $status, array $order): void
{
    $state = STATES[$order['status']] ?? $order['status'];
    $way = "<p><a href=\"{$order['checkout']}\">To the payment</a></p>";
    if ($order['checkout'] === null) {
        $state = 'Not started: our payment service could not be reached';
        $retry = "<input type=\"hidden\" name=\"order\" value=\"{$order['id']}\"><button>Try again</button>";
        $way = "<form method=\"post\" action=\"/orders\">$retry</form>";
    }
    page($status, "<h1>$state</h1><p>Order {$order['id']}</p>$way");
}

function page(int $status, string $html): void
{
    $head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Coffee</title>';
    answer($status, 'text/html; charset=utf-8', "<!doctype html><html lang=\"en\">$head$html</html>");
}

function answer(int $status, string $type, string $text): void
{
    http_response_code($status);
    header("content-type: $type");
    echo $text;
}

// `php -S` runs this file for each request.
try {
    $request = "{$_SERVER['REQUEST_METHOD']} " . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    if ($request === 'GET /') {
        $button = '<form method="post" action="/orders"><button>Pay with crypto</button></form>';
        page(200, '<h1>' . PRODUCT . '</h1><p>' . number_format((float) AMOUNT, 2) . ' ' . CURRENCY . "</p>$button");
    } elseif ($request === 'POST /orders') {
        pay();
    } elseif ($request === 'POST /webhooks') {
        receiveWebhook(file_get_contents('php://input'));
    } elseif (preg_match('~^GET /orders/(\w+)$~D', $request, $parts)) {
        showOrder($parts[1]);
    } else {
        page(404, '<h1>Not found</h1>');
    }
} catch (Throwable $problem) {
    error_log((string) $problem);
    page(500, '<h1>Something went wrong</h1>');
}

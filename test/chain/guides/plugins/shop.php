<?php
// What the three shops share: the pages that a test calls, and their state, which is kept in one file. `php -S` handles one request at a time.
declare(strict_types=1);

require __DIR__ . '/greenfield.php';

abstract class Shop
{
    /** @var array<string, mixed> */
    protected array $settings;
    /** @var array<string, array<string, mixed>> */
    protected array $orders;

    /** The URL to which the server sends the user back with a key. */
    abstract protected function callback(): string;

    /** The URL that receives webhooks. */
    abstract protected function hook(): string;

    /** The URL of the key request that the button opens. */
    abstract protected function question(): string;

    /**
     * Stores the key from the form that the server sent.
     * @param array<string, mixed> $form
     */
    abstract protected function takeKey(array $form): string;

    /** Saves the settings with a key that the user entered. */
    abstract protected function enterKey(string $key, string $store): string;

    /** The message on the settings page: what is wrong, or "connected". */
    abstract protected function status(): string;

    /**
     * The URL where the customer pays the order.
     * @param array<string, mixed> $order
     */
    abstract protected function pay(array &$order): string;

    /** Handles a webhook; throws if it is not genuine. */
    abstract protected function hear(string $body, ?string $signature): void;

    final public function serve(): void
    {
        $file = (string) getenv('SHOP_STATE');
        $kept = is_file($file) ? json_decode((string) file_get_contents($file), true, 512, JSON_THROW_ON_ERROR) : [];
        $this->settings = $kept['settings'] ?? [];
        $this->orders = $kept['orders'] ?? [];
        try {
            [$code, $answer] = $this->answer();
        } catch (Throwable $problem) {
            // A refused webhook and a refusal by the server are expected; only errors of PHP itself are logged.
            [$code, $answer] = [500, ['problem' => $problem->getMessage()]];
            if ($problem instanceof Error) {
                error_log((string) $problem);
            }
        }
        file_put_contents($file, json_encode(['settings' => $this->settings, 'orders' => $this->orders], JSON_THROW_ON_ERROR));
        http_response_code($code);
        header('content-type: application/json');
        echo json_encode($answer, JSON_THROW_ON_ERROR);
    }

    /** @return array{int, mixed} */
    private function answer(): array
    {
        $path = (string) parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
        $request = "{$_SERVER['REQUEST_METHOD']} $path";
        $callback = (string) parse_url($this->callback(), PHP_URL_PATH);
        switch (true) {
            case $request === "POST {$this->hook()}":
                $headers = array_change_key_case(getallheaders());
                $this->hear((string) file_get_contents('php://input'), $headers['btcpay-sig'] ?? null);
                return [200, 'ok'];
            case $request === "POST $callback":
                return [200, $this->takeKey($_POST)];
            case $request === 'POST /settings':
                $this->settings['server'] = $_POST['server'];
                return [200, isset($_POST['key']) ? $this->enterKey($_POST['key'], $_POST['store']) : $this->question()];
            case $request === 'GET /settings':
                return [200, $this->status()];
            case $request === 'POST /orders':
                $number = (string) (1001 + count($this->orders));
                $this->orders[$number] = [
                    'number' => $number, 'amount' => $_POST['amount'], 'status' => 'pending', 'invoices' => [], 'notes' => [], 'paid' => 0,
                ];
                return [200, $this->orders[$number]];
            case preg_match('~^/orders/(\d+)(/pay|/mark)?$~D', $path, $parts) === 1:
                return [200, $this->answerOrder($this->orders[$parts[1]], $parts[2] ?? '')];
            default:
                return [$path === '/' ? 200 : 404, 'a shop'];
        }
    }

    /** @param array<string, mixed> $order */
    private function answerOrder(array &$order, string $action): mixed
    {
        return match ($action) {
            '/pay' => $this->pay($order),
            '/mark' => $this->server()->mark($this->settings['store'], end($order['invoices']), $_POST['status'])->additionalStatus,
            default => $order,
        };
    }

    final protected function here(string $path): string
    {
        return "http://127.0.0.1:{$_SERVER['SERVER_PORT']}$path";
    }

    final protected function server(): Greenfield
    {
        return new Greenfield($this->settings['server'], $this->settings['key']);
    }

    /**
     * The order whose newest invoice this is; with `$isAny`, the order that has this invoice.
     * @return array<string, mixed>|null
     */
    final protected function &orderOf(string $invoice, bool $isAny = false): ?array
    {
        $none = null;
        foreach ($this->orders as &$order) {
            if ($isAny ? in_array($invoice, $order['invoices'], true) : end($order['invoices']) === $invoice) {
                return $order;
            }
        }
        return $none;
    }

    /**
     * The single store that all these permissions apply to.
     * @param list<string> $permissions
     */
    final protected static function storeOf(array $permissions): ?string
    {
        $stores = array_unique(array_map(fn (string $each) => explode(':', $each)[1] ?? '', $permissions));
        return count($stores) === 1 && reset($stores) !== '' ? reset($stores) : null;
    }

    /**
     * @param list<string> $permissions
     * @return list<string>
     */
    final protected static function rightsIn(array $permissions): array
    {
        return array_map(fn (string $each) => explode(':', $each)[0], $permissions);
    }
}

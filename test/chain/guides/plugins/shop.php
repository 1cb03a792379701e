<?php
// What the three shops share: the pages by which a test uses them, and what they keep, in one file. `php -S` runs a shop for one request at a time.
declare(strict_types=1);

require __DIR__ . '/greenfield.php';

abstract class Shop
{
    /** @var array<string, mixed> */
    protected array $settings;
    /** @var array<string, array<string, mixed>> */
    protected array $orders;

    /** Where the server sends a person back to, with a key. */
    abstract protected function callback(): string;

    /** Where webhooks come. */
    abstract protected function hook(): string;

    /** Where its button leads. */
    abstract protected function question(): string;

    /**
     * Takes the key that came in a form.
     * @param array<string, mixed> $form
     */
    abstract protected function takeKey(array $form): string;

    /** Saves its settings with a key that a person has entered. */
    abstract protected function enterKey(string $key, string $store): string;

    /** What its page of settings shows: what is wrong, or "connected". */
    abstract protected function status(): string;

    /**
     * Where the customer of an order pays.
     * @param array<string, mixed> $order
     */
    abstract protected function pay(array &$order): string;

    /** Throws where the webhook is not genuine. */
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
            // What refuses a webhook, or a server that refuses: a shop's log has it, and a warning of PHP is none of these.
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
     * The order of which an invoice is the newest, or with `$isAny` any one.
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
     * The one store that all of these rights are for.
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

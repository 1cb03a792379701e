<?php
// Calls BTCPay Server's API like the library of its shop plugins: with curl and JSON, and with 200 as the only success. Members that the plugins read
// are read here with their types, so that a missing one or one of another type is an error.
declare(strict_types=1);

final class Refused extends RuntimeException
{
}

final readonly class Invoice
{
    public string $id;
    public string $amount;
    public string $status;
    public string $additionalStatus;
    public string $checkoutLink;
    public int $expirationTime;
    /** @var array<string, mixed> */
    public array $metadata;
    /** @var list<string> */
    public array $paymentMethods;

    /** @param array<string, mixed> $data */
    public function __construct(array $data)
    {
        $this->id = $data['id'];
        $this->amount = $data['amount'];
        $this->status = $data['status'];
        $this->additionalStatus = $data['additionalStatus'];
        $this->checkoutLink = $data['checkoutLink'];
        $this->expirationTime = $data['expirationTime'];
        $this->metadata = $data['metadata'];
        $this->paymentMethods = $data['checkout']['paymentMethods'];
    }

    /** The same rule as in the library: plugins also ship an order that was paid in full after its invoice expired. */
    public function isSettled(): bool
    {
        return $this->status === 'Settled' || $this->additionalStatus === 'PaidLate';
    }
}

final readonly class InvoicePayment
{
    public string $transaction;
    public string $value;
    public string $fee;
    public string $destination;
    public string $status;
    public int $receivedDate;

    /** @param array<string, mixed> $data */
    public function __construct(array $data)
    {
        $this->transaction = explode('-', $data['id'])[0];
        $this->value = $data['value'];
        $this->fee = $data['fee'];
        $this->destination = $data['destination'];
        $this->status = $data['status'];
        $this->receivedDate = $data['receivedDate'];
    }
}

final readonly class InvoiceMethod
{
    public string $name;
    public string $coin;
    public string $destination;
    public string $rate;
    public string $paid;
    public string $totalPaid;
    public string $due;
    public string $amount;
    public string $networkFee;
    /** @var list<InvoicePayment> */
    public array $payments;

    /** @param array<string, mixed> $data */
    public function __construct(array $data)
    {
        $this->name = $data['paymentMethod'];
        $this->coin = $data['cryptoCode'];
        $this->destination = $data['destination'];
        $this->rate = $data['rate'];
        $this->paid = $data['paymentMethodPaid'];
        $this->totalPaid = $data['totalPaid'];
        $this->due = $data['due'];
        $this->amount = $data['amount'];
        $this->networkFee = $data['networkFee'];
        $this->payments = array_map(fn (array $each) => new InvoicePayment($each), $data['payments']);
    }
}

final readonly class Endpoint
{
    public string $id;
    public string $url;
    public bool $isEnabled;
    public bool $isRepeated;
    public bool $isForEverything;
    /** Only in the response to the endpoint's creation. */
    public ?string $secret;

    /** @param array<string, mixed> $data */
    public function __construct(array $data)
    {
        $this->id = $data['id'];
        $this->url = $data['url'];
        $this->isEnabled = $data['enabled'];
        $this->isRepeated = $data['automaticRedelivery'];
        $this->isForEverything = $data['authorizedEvents']['everything'];
        $this->secret = $data['secret'] ?? null;
    }
}

final class Greenfield
{
    public function __construct(private readonly string $server, private readonly string $key)
    {
    }

    /**
     * The URL where a user grants the shop a key.
     * @param list<string> $rights
     */
    public static function authorizeUrl(string $server, array $rights, string $name, ?string $redirect, ?string $id = null): string
    {
        $query = array_map(fn (string $right) => 'permissions=' . urlencode($right), $rights);
        $rest = ['applicationName' => $name, 'strict' => 'true', 'selectiveStores' => 'true', 'redirect' => $redirect, 'applicationIdentifier' => $id];
        foreach (array_filter($rest, fn (?string $value) => $value !== null) as $field => $value) {
            $query[] = "$field=" . urlencode($value);
        }
        return rtrim($server, '/') . '/api-keys/authorize?' . implode('&', $query);
    }

    public static function isSigned(string $body, string $signature, string $secret): bool
    {
        return $body !== '' && hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $signature);
    }

    /** @return array{apiKey: string, permissions: list<string>} */
    public function currentKey(): array
    {
        return $this->call('GET', 'api-keys/current');
    }

    /** @return array{version: string, fullySynched: bool} */
    public function serverInfo(): array
    {
        return $this->call('GET', 'server/info');
    }

    /** @return list<array<string, mixed>> */
    public function stores(): array
    {
        return $this->call('GET', 'stores');
    }

    /** @return array<string, mixed> */
    public function store(string $store): array
    {
        return $this->call('GET', "stores/$store");
    }

    /** @return list<array{paymentMethodId: string, enabled: bool}> */
    public function methodsOf(string $store): array
    {
        return $this->call('GET', "stores/$store/payment-methods");
    }

    /** @return list<Endpoint> */
    public function endpoints(string $store): array
    {
        return array_map(fn (array $each) => new Endpoint($each), $this->call('GET', "stores/$store/webhooks"));
    }

    public function endpoint(string $store, string $id): Endpoint
    {
        return new Endpoint($this->call('GET', "stores/$store/webhooks/$id"));
    }

    /** @param list<string>|null $events null for all */
    public function newEndpoint(string $store, string $url, ?array $events, ?string $secret): Endpoint
    {
        $authorized = $events === null ? ['everything' => true] : ['everything' => false, 'specificEvents' => $events];
        $body = ['enabled' => true, 'automaticRedelivery' => true, 'url' => $url, 'authorizedEvents' => $authorized];
        return new Endpoint($this->call('POST', "stores/$store/webhooks", $secret === null ? $body : [...$body, 'secret' => $secret]));
    }

    /**
     * @param array<string, mixed> $metadata
     * @param array<string, mixed> $checkout
     */
    public function newInvoice(string $store, string $amount, string $currency, array $metadata, array $checkout): Invoice
    {
        // The library sends every option, including those that the plugin does not use.
        $options = [
            'speedPolicy' => null, 'paymentMethods' => null, 'expirationMinutes' => null, 'monitoringMinutes' => null,
            'paymentTolerance' => null, 'redirectURL' => null, 'redirectAutomatically' => null, 'defaultLanguage' => null,
        ];
        $body = ['amount' => $amount, 'currency' => $currency, 'metadata' => $metadata, 'checkout' => [...$options, ...$checkout]];
        return new Invoice($this->call('POST', "stores/$store/invoices", $body));
    }

    public function invoice(string $store, string $id): Invoice
    {
        return new Invoice($this->call('GET', "stores/$store/invoices/$id"));
    }

    /** @return list<Invoice> */
    public function invoicesOfOrder(string $store, string $order): array
    {
        $found = $this->call('GET', "stores/$store/invoices?orderId=" . urlencode($order));
        return array_map(fn (array $each) => new Invoice($each), $found);
    }

    /** @return list<InvoiceMethod> */
    public function invoiceMethods(string $store, string $id): array
    {
        return array_map(fn (array $each) => new InvoiceMethod($each), $this->call('GET', "stores/$store/invoices/$id/payment-methods"));
    }

    public function mark(string $store, string $id, string $status): Invoice
    {
        return new Invoice($this->call('POST', "stores/$store/invoices/$id/status", ['status' => $status]));
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<mixed>
     */
    private function call(string $method, string $path, ?array $body = null): array
    {
        $request = curl_init(rtrim($this->server, '/') . "/api/v1/$path");
        $headers = ['Accept: application/json', 'Content-Type: application/json', "Authorization: token {$this->key}"];
        curl_setopt_array($request, [CURLOPT_CUSTOMREQUEST => $method, CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => $headers]);
        if ($body !== null) {
            curl_setopt($request, CURLOPT_POSTFIELDS, json_encode($body, JSON_THROW_ON_ERROR));
        }
        $text = curl_exec($request);
        if (!is_string($text)) {
            throw new Refused("$method $path: " . curl_error($request));
        }
        $status = curl_getinfo($request, CURLINFO_RESPONSE_CODE);
        if ($status !== 200) {
            throw new Refused("$method $path: $status $text");
        }
        return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
    }
}

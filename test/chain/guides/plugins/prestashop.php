<?php
// A shop that calls its server like the module for PrestaShop; it creates the order before the payment.
declare(strict_types=1);

require __DIR__ . '/shop.php';

final class PrestaShop extends Shop
{
    private const RIGHTS = [
        'btcpay.store.canmodifystoresettings', 'btcpay.store.webhooks.canmodifywebhooks', 'btcpay.store.canviewstoresettings',
        'btcpay.store.cancreateinvoice', 'btcpay.store.canviewinvoices', 'btcpay.store.canmodifyinvoices',
    ];

    protected function callback(): string
    {
        return '/admin/modules/btcpay/validate?_token=0123456789abcdef';
    }

    protected function hook(): string
    {
        return '/module/btcpay/webhook';
    }

    protected function question(): string
    {
        return Greenfield::authorizeUrl($this->settings['server'], self::RIGHTS, 'Tea & co', $this->here($this->callback()), 'Tea & co');
    }

    protected function takeKey(array $form): string
    {
        return $this->link($form['apiKey'], $form['permissions']);
    }

    protected function enterKey(string $key, string $store): string
    {
        if (preg_match('/^[a-zA-Z0-9]+$/D', $key) !== 1) {
            return 'This value should be of type alnum.';
        }
        $current = (new Greenfield($this->settings['server'], $key))->currentKey();
        return $this->link($current['apiKey'], $current['permissions']);
    }

    /** @param list<string> $permissions */
    private function link(string $key, array $permissions): string
    {
        $rights = self::rightsIn($permissions);
        if (array_diff(self::RIGHTS, $rights) !== [] || array_diff($rights, self::RIGHTS) !== []) {
            return 'This plugin expects all passed permissions to be given.';
        }
        $store = self::storeOf($permissions);
        if ($store === null) {
            return 'This plugin requires one store.';
        }
        $client = new Greenfield($this->settings['server'], $key);
        if (version_compare($client->serverInfo()['version'], '1.7.0', '<') || $client->methodsOf($store) === []) {
            return 'the server is too old, or has no payment method';
        }
        $this->settings['key'] = $key;
        $this->settings['store'] = $store;
        $this->ensureEndpoint();
        return 'connected';
    }

    /** The message on the settings page about a linked store. */
    protected function status(): string
    {
        $this->ensureEndpoint();
        $client = $this->server();
        $store = $client->store($this->settings['store']);
        $shown = [$store['name'], $store['speedPolicy'], $store['invoiceExpiration'], $store['monitoringExpiration'], $store['defaultCurrency']];
        $methods = array_map(fn (array $each) => $each['paymentMethodId'], $client->methodsOf($this->settings['store']));
        $isHeard = $client->endpoint($this->settings['store'], $this->settings['endpoint'])->isEnabled;
        $isReady = $client->serverInfo()['fullySynched'] && $isHeard && !in_array(null, $shown, true) && $methods !== [];
        return $isReady ? 'connected' : 'not connected';
    }

    protected function pay(array &$order): string
    {
        $this->ensureEndpoint();
        $client = $this->server();
        if ($order['invoices'] !== []) {
            $before = $client->invoice($this->settings['store'], end($order['invoices']));
            if ($before->status !== 'Invalid' && $before->status !== 'Expired') {
                return $before->checkoutLink;
            }
        }
        $reference = bin2hex(random_bytes(10));
        $metadata = [
            'posData' => md5($order['number']), 'itemCode' => "invoice-reference-$reference", 'itemDesc' => 'Purchase from Tea & co',
            'taxIncluded' => '0.8', 'orderId' => $reference, 'buyerEmail' => 'customer@example.com',
        ];
        $checkout = ['speedPolicy' => 'MediumSpeed', 'redirectURL' => $this->here("/module/btcpay/validation?invoice_reference=$reference")];
        $invoice = $client->newInvoice($this->settings['store'], $order['amount'], 'USD', $metadata, $checkout);
        $order['invoices'][] = $invoice->id;
        $order['status'] = 'waiting';
        return $invoice->checkoutLink;
    }

    protected function hear(string $body, ?string $signature): void
    {
        if ($signature === null || !isset($this->settings['secret']) || !$this->isValid()) {
            return;
        }
        if (!Greenfield::isSigned($body, $signature, $this->settings['secret'])) {
            throw new RuntimeException('signature did not match');
        }
        $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        if (!isset($event['type'], $event['invoiceId']) || str_contains($event['invoiceId'], '__test__')) {
            return;
        }
        $order = &$this->orderOf($event['invoiceId']);
        if ($order === null) {
            return;
        }
        match ($event['type']) {
            'InvoiceProcessing', 'InvoicePaidInFull', 'InvoiceReceivedPayment' => $this->received($order),
            'InvoicePaymentSettled' => $this->bookPayments($order),
            'InvoiceInvalid', 'InvoiceExpired' => $this->failed($order),
            'InvoiceSettled' => $this->settled($order),
            default => null,
        };
    }

    /** @param array<string, mixed> $order */
    private function received(array &$order): void
    {
        $invoice = $this->invoiceOf($order);
        $status = $order['status'];
        if ($invoice->additionalStatus === 'PaidPartial') {
            $status = 'waiting';
        }
        if ($invoice->status === 'Processing' || in_array($invoice->additionalStatus, ['PaidLate', 'PaidOver'], true)) {
            $status = 'confirming';
        }
        if ($invoice->isSettled()) {
            $status = 'paid';
        }
        $this->become($order, $status);
    }

    /** @param array<string, mixed> $order */
    private function failed(array &$order): void
    {
        $invoice = $this->invoiceOf($order);
        if ($order['status'] === 'paid') {
            $order['notes'][] = 'failed, but it is paid already';
        } elseif (in_array($invoice->status, ['Invalid', 'Expired'], true) || $invoice->additionalStatus === 'Marked') {
            $this->become($order, 'failed');
        }
    }

    /** @param array<string, mixed> $order */
    private function settled(array &$order): void
    {
        $invoice = $this->invoiceOf($order);
        if ($invoice->status === 'Processing') {
            return;
        }
        $this->become($order, $invoice->isSettled() || $invoice->additionalStatus === 'Marked' ? 'paid' : $order['status']);
    }

    /** @param array<string, mixed> $order */
    private function bookPayments(array &$order): void
    {
        foreach ($this->server()->invoiceMethods($this->settings['store'], end($order['invoices'])) as $method) {
            foreach ($method->payments as $payment) {
                if ($payment->status === 'Settled') {
                    $order['booked'][$payment->transaction] = number_format((float) $payment->value * (float) $method->rate, 2);
                }
            }
        }
    }

    /** @param array<string, mixed> $order */
    private function become(array &$order, string $status): void
    {
        $order['paid'] += $status === 'paid' && $order['status'] !== 'paid' ? 1 : 0;
        $order['status'] = $status;
    }

    /** @param array<string, mixed> $order */
    private function invoiceOf(array $order): Invoice
    {
        return $this->server()->invoice($this->settings['store'], end($order['invoices']));
    }

    private function isValid(): bool
    {
        try {
            $this->server()->serverInfo();
            return is_string($this->server()->store($this->settings['store'])['name']);
        } catch (Refused) {
            return false;
        }
    }

    /** The module chooses the secret itself, and expects it in the response. */
    private function ensureEndpoint(): void
    {
        try {
            $this->server()->endpoint($this->settings['store'], $this->settings['endpoint'] ?? 'none');
        } catch (Refused) {
            $secret = bin2hex(random_bytes(24));
            $made = $this->server()->newEndpoint($this->settings['store'], $this->here($this->hook()), null, $secret);
            if ($made->secret !== $secret) {
                throw new RuntimeException("Webhook secret doesn't match our secret.");
            }
            $this->settings['endpoint'] = $made->id;
            $this->settings['secret'] = $secret;
        }
    }
}

(new PrestaShop())->serve();

<?php
// A shop that calls its server like the plugin for WooCommerce.
declare(strict_types=1);

require __DIR__ . '/shop.php';

final class WooCommerce extends Shop
{
    private const REQUIRED = [
        'btcpay.store.canviewinvoices', 'btcpay.store.cancreateinvoice', 'btcpay.store.canviewstoresettings', 'btcpay.store.canmodifyinvoices',
    ];
    private const OPTIONAL = ['btcpay.store.cancreatenonapprovedpullpayments', 'btcpay.store.webhooks.canmodifywebhooks'];
    private const EVENTS = [
        'InvoiceReceivedPayment', 'InvoicePaymentSettled', 'InvoiceProcessing', 'InvoiceExpired', 'InvoiceSettled', 'InvoiceInvalid',
    ];
    /** WooCommerce's own status "processing": paid, and to be shipped. */
    private const PAID = 'processing';

    protected function callback(): string
    {
        return '/btcpay-settings-callback';
    }

    protected function hook(): string
    {
        return '/wc-api/btcpaygf_default/';
    }

    protected function question(): string
    {
        $rights = [...self::REQUIRED, ...self::OPTIONAL];
        return Greenfield::authorizeUrl($this->settings['server'], $rights, 'WooCommerce', $this->here($this->callback()));
    }

    protected function takeKey(array $form): string
    {
        $key = (string) preg_replace('/[^A-Za-z0-9_-]/', '', $form['apiKey']);
        $client = new Greenfield($this->settings['server'], $key);
        if ($client->stores() === []) {
            return 'the key is not of the server that was asked';
        }
        $problem = self::problemOf($form['permissions']);
        if ($problem !== null) {
            return $problem;
        }
        $this->settings['key'] = $key;
        $this->settings['store'] = self::storeOf($form['permissions']);
        $this->registerEndpoint();
        return 'connected';
    }

    /** Like the page's Save button with an empty webhook secret: the plugin creates an endpoint if it knows none. */
    protected function enterKey(string $key, string $store): string
    {
        $this->settings['key'] = $key;
        $this->settings['store'] = $store;
        return $this->status();
    }

    protected function status(): string
    {
        $client = $this->server();
        $problem = self::problemOf($client->currentKey()['permissions']);
        if ($problem !== null) {
            return $problem;
        }
        $info = $client->serverInfo();
        if ((int) $info['fullySynched'] !== 1 || version_compare($info['version'], '1.7.6', '<')) {
            return 'the server is not ready';
        }
        if (!$this->hasEndpoint()) {
            $this->registerEndpoint();
        }
        return $client->methodsOf($this->settings['store']) === [] ? 'no wallet' : 'connected';
    }

    protected function pay(array &$order): string
    {
        $client = $this->server();
        if ($order['invoices'] !== []) {
            $before = $client->invoice($this->settings['store'], end($order['invoices']));
            if (!in_array($before->status, ['Expired', 'Invalid'], true)) {
                return $before->checkoutLink;
            }
        }
        $url = $this->here("/wp-admin/post.php?post={$order['number']}&action=edit");
        $metadata = [
            'taxIncluded' => 0.8,
            'posData' => json_encode(['WooCommerce' => ['Order ID' => (int) $order['number'], 'Order URL' => $url]], JSON_THROW_ON_ERROR),
            'orderUrl' => $url,
            'orderId' => $order['number'],
        ];
        $checkout = ['redirectURL' => $this->here("/checkout/order-received/{$order['number']}/?key=wc_order_1")];
        $invoice = $client->newInvoice($this->settings['store'], $order['amount'], 'USD', $metadata, $checkout);
        $order['invoices'][] = $invoice->id;
        // With a new invoice, the order is pending again.
        $order['status'] = 'pending';
        return $invoice->checkoutLink;
    }

    protected function hear(string $body, ?string $signature): void
    {
        if ($signature === null || !Greenfield::isSigned($body, $signature, $this->settings['secret'])) {
            throw new RuntimeException('Webhook request validation failed.');
        }
        $event = json_decode($body, false, 512, JSON_THROW_ON_ERROR);
        $order = &$this->orderOf($event->invoiceId);
        if ($order === null) {
            return;
        }
        if (in_array($order['status'], [self::PAID, 'completed'], true)) {
            $order['notes'][] = "$event->type, but it is paid already";
            return;
        }
        $this->follow($order, $event);
    }

    /** @param array<string, mixed> $order */
    private function follow(array &$order, stdClass $event): void
    {
        switch ($event->type) {
            case 'InvoiceReceivedPayment':
                $order['status'] = $event->afterExpiration ? 'failed' : $order['status'];
                $this->notePayments($order);
                break;
            case 'InvoicePaymentSettled':
                if (in_array($order['status'], ['cancelled', 'failed'], true)) {
                    $invoice = $this->server()->invoice($this->settings['store'], $event->invoiceId);
                    $this->become($order, $invoice->isSettled() ? self::PAID : 'failed');
                }
                $this->notePayments($order);
                break;
            case 'InvoiceProcessing':
                $order['notes'][] = $event->overPaid ? 'more than asked is on its way' : 'all is on its way';
                $this->become($order, 'on-hold');
                break;
            case 'InvoiceInvalid':
                $order['notes'][] = $event->manuallyMarked ? 'marked as invalid' : 'invalid';
                $this->become($order, 'failed');
                break;
            case 'InvoiceExpired':
                $this->become($order, $event->partiallyPaid ? 'failed' : 'cancelled');
                break;
            case 'InvoiceSettled':
                $order['notes'][] = $event->overPaid ? 'settled, overpaid' : 'settled';
                $this->become($order, self::PAID);
                $this->notePayments($order);
                break;
        }
    }

    /** @param array<string, mixed> $order */
    private function become(array &$order, string $status): void
    {
        $order['status'] = $status;
        $order['paid'] += $status === self::PAID ? 1 : 0;
    }

    /** @param array<string, mixed> $order */
    private function notePayments(array &$order): void
    {
        foreach ($this->server()->invoiceMethods($this->settings['store'], end($order['invoices'])) as $method) {
            if ((float) $method->paid > 0.0) {
                $order['received'] = "$method->totalPaid of $method->amount $method->name at $method->rate, due $method->due";
                $order['transactions'] = array_map(fn (InvoicePayment $each) => $each->transaction, $method->payments);
            }
        }
    }

    /** @param list<string> $permissions */
    private static function problemOf(array $permissions): ?string
    {
        if (self::storeOf($permissions) === null) {
            return 'the key is for several stores';
        }
        $rights = array_diff(self::rightsIn($permissions), self::OPTIONAL);
        $isExact = array_diff(self::REQUIRED, $rights) === [] && array_diff($rights, self::REQUIRED) === [];
        return $isExact ? null : 'the key does not match the required permissions';
    }

    private function hasEndpoint(): bool
    {
        try {
            $known = $this->server()->endpoint($this->settings['store'], $this->settings['endpoint'] ?? 'none');
            return str_contains($known->url, $this->here($this->hook()));
        } catch (Refused) {
            return false;
        }
    }

    private function registerEndpoint(): void
    {
        $made = $this->server()->newEndpoint($this->settings['store'], $this->here($this->hook()), self::EVENTS, null);
        $this->settings['endpoint'] = $made->id;
        $this->settings['secret'] = $made->secret;
    }
}

(new WooCommerce())->serve();

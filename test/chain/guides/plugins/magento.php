<?php
// A shop that calls its server like the module for Magento 2; it cancels an order once all its invoices have expired.
declare(strict_types=1);

require __DIR__ . '/shop.php';

final class Magento extends Shop
{
    private const RIGHTS = [
        'btcpay.store.canviewinvoices', 'btcpay.store.cancreateinvoice', 'btcpay.store.webhooks.canmodifywebhooks',
        'btcpay.store.canviewstoresettings', 'btcpay.store.canmodifyinvoices',
    ];

    protected function callback(): string
    {
        return '/btcpay/apikey/save?secret=' . sha1($this->secret() . '0') . '&store=0';
    }

    protected function hook(): string
    {
        return '/rest/V2/btcpay/webhook';
    }

    protected function question(): string
    {
        return Greenfield::authorizeUrl($this->settings['server'], self::RIGHTS, 'Magento 2 @ shop.example', $this->here($this->callback()), 'magento2');
    }

    protected function takeKey(array $form): string
    {
        if ($_GET['secret'] !== sha1($this->secret() . '0')) {
            return 'Forbidden.';
        }
        return $this->enterKey($form['apiKey'], '');
    }

    protected function enterKey(string $key, string $store): string
    {
        $this->settings['key'] = $key;
        $this->server()->currentKey();
        $stores = $this->server()->stores();
        if (count($stores) === 1) {
            $this->settings['store'] = $stores[0]['id'];
            $this->installEndpoint();
        }
        return $this->status();
    }

    protected function status(): string
    {
        $mine = $this->server()->currentKey()['permissions'];
        $needed = array_map(fn (string $right) => "$right:{$this->settings['store']}", self::RIGHTS);
        sort($mine);
        sort($needed);
        if ($mine !== $needed) {
            return 'the key has too many rights, or too few';
        }
        if (!$this->installEndpoint()) {
            return 'Could not install the webhook.';
        }
        $enabled = array_filter($this->server()->methodsOf($this->settings['store']), fn (array $each) => $each['enabled']);
        return $enabled === [] ? 'Please configure a payment method.' : 'connected';
    }

    protected function pay(array &$order): string
    {
        $metadata = [
            'buyerName' => 'Ann Other', 'buyerAddress2' => null, 'physical' => true, 'taxIncluded' => false, 'magentoOrderId' => '9',
            'magentoStoreId' => 1, 'orderId' => $order['number'], 'buyerEmail' => 'customer@example.com',
        ];
        $checkout = [
            'redirectURL' => $this->here("/btcpay/redirect/returnafterpayment/orderId/9/invoiceId/{InvoiceId}/hash/1/"),
            'redirectAutomatically' => true, 'defaultLanguage' => 'en-US',
        ];
        $invoice = $this->server()->newInvoice($this->settings['store'], $order['amount'], 'USD', $metadata, $checkout);
        $order['invoices'][] = $invoice->id;
        $order['rows'][$invoice->id] = $invoice->status;
        return $invoice->checkoutLink;
    }

    protected function hear(string $body, ?string $signature): void
    {
        if ($body === '' || $signature === null) {
            throw new RuntimeException('Invalid data POSTed');
        }
        if ('sha256=' . hash_hmac('sha256', $body, $this->secret()) !== $signature) {
            throw new RuntimeException('Access Denied');
        }
        $event = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        $order = &$this->orderOf($event['invoiceId'] ?? '', true);
        if ($order !== null && $event['storeId'] === $this->settings['store']) {
            $this->update($order, $event['invoiceId'], $event['type'] === 'InvoiceReceivedPayment');
        }
    }

    /**
     * Takes only the invoice's id from a webhook, and reads the invoice from the server.
     * @param array<string, mixed> $order
     */
    private function update(array &$order, string $id, bool $isNoted): void
    {
        $invoice = $this->server()->invoice($this->settings['store'], $id);
        if ($invoice->metadata['orderId'] !== $order['number']) {
            throw new RuntimeException('The supplied order does not match.');
        }
        if ($isNoted) {
            $order['notes'][] = $this->paymentOf($invoice);
            $order['status'] = $invoice->additionalStatus === 'PaidPartial' ? 'underpaid' : $order['status'];
        }
        if ($order['rows'][$id] === $invoice->status) {
            return;
        }
        $order['rows'][$id] = $invoice->status;
        $this->follow($order, $invoice);
    }

    /** @param array<string, mixed> $order */
    private function follow(array &$order, Invoice $invoice): void
    {
        $isOver = $invoice->additionalStatus === 'PaidOver';
        switch ($invoice->status) {
            case 'Processing':
                $order['status'] = $isOver ? 'overpaid' : 'paid correctly';
                break;
            case 'Settled':
                $order['paid'] += $order['status'] === 'processing' ? 0 : 1;
                $order['status'] = 'processing';
                $order['notes'][] = $isOver ? 'Payment confirmed: overpaid.' : "Payment confirmed. $invoice->additionalStatus";
                break;
            case 'Invalid':
                $order['status'] = 'invalid';
                break;
            case 'Expired':
                $others = $this->server()->invoicesOfOrder($this->settings['store'], $order['number']);
                $isOver = array_filter($others, fn (Invoice $each) => $each->status !== 'Expired') === [];
                if ($invoice->additionalStatus !== 'PaidPartial' && $isOver) {
                    $order['status'] = 'canceled';
                }
                break;
        }
    }

    private function paymentOf(Invoice $invoice): string
    {
        $methods = $this->server()->invoiceMethods($this->settings['store'], $invoice->id);
        if (count(array_unique(array_map(fn (InvoiceMethod $each) => explode('-', $each->name)[0], $methods))) > 1) {
            throw new RuntimeException('Only 1 currency supported.');
        }
        $method = end($methods);
        return "Received $method->totalPaid at $method->rate for $invoice->amount";
    }

    private function installEndpoint(): bool
    {
        $url = $this->here($this->hook());
        $known = array_filter($this->server()->endpoints($this->settings['store']), fn (Endpoint $each) => $each->url === $url);
        $endpoint = reset($known) ?: $this->server()->newEndpoint($this->settings['store'], $url, null, $this->secret());
        return $endpoint->isEnabled && $endpoint->isRepeated && $endpoint->isForEverything;
    }

    private function secret(): string
    {
        return $this->settings['secret'] ??= hash('sha256', random_bytes(32));
    }
}

(new Magento())->serve();

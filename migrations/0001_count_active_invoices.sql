-- How many invoices of a merchant are active, counted where no writer can forget it (setting max_active_invoices).
CREATE TRIGGER `invoices_count_insert` AFTER INSERT ON `invoices`
WHEN NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')
BEGIN
	UPDATE `merchants` SET `active_invoices` = `active_invoices` + 1 WHERE `id` = NEW.merchant_id;
END;
--> statement-breakpoint
CREATE TRIGGER `invoices_count_update` AFTER UPDATE OF `status` ON `invoices`
WHEN (OLD.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) <> (NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION'))
BEGIN
	UPDATE `merchants` SET `active_invoices` = `active_invoices` + CASE WHEN NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION') THEN 1 ELSE -1 END WHERE `id` = NEW.merchant_id;
END;

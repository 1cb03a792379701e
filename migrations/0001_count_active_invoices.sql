-- How many invoices of a merchant are active, counted where no writer can forget it (setting max_active_invoices). Without CASE: D1's own
-- splitter of statements takes the END of one for the end of the trigger.
CREATE TRIGGER `invoices_count_insert` AFTER INSERT ON `invoices`
BEGIN
	UPDATE `merchants` SET `active_invoices` = `active_invoices` + (NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) WHERE `id` = NEW.merchant_id;
END;
--> statement-breakpoint
CREATE TRIGGER `invoices_count_update` AFTER UPDATE OF `status` ON `invoices`
BEGIN
	UPDATE `merchants` SET `active_invoices` = `active_invoices` + (NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) - (OLD.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) WHERE `id` = NEW.merchant_id;
END;

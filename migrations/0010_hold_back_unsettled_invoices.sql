CREATE TABLE `unsettled_invoices` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`failures` integer NOT NULL,
	`reason` text NOT NULL,
	`retry_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `unsettled_invoices_retry` ON `unsettled_invoices` (`retry_at_ms`);
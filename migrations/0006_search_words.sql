CREATE TABLE `search_words` (
	`merchant_id` text NOT NULL,
	`kind` text NOT NULL,
	`word` text NOT NULL,
	`id` text NOT NULL,
	PRIMARY KEY(`merchant_id`, `kind`, `word`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `customers` ADD `search_text` text;--> statement-breakpoint
ALTER TABLE `customers` ADD `indexed_at_ms` integer;--> statement-breakpoint
CREATE INDEX `customers_unindexed` ON `customers` (`id`) WHERE indexed_at_ms is not updated_at_ms;--> statement-breakpoint
ALTER TABLE `invoices` ADD `search_text` text;--> statement-breakpoint
ALTER TABLE `invoices` ADD `indexed_at_ms` integer;--> statement-breakpoint
CREATE INDEX `invoices_amount` ON `invoices` (`merchant_id`,`amount_micros`,`currency`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_unindexed` ON `invoices` (`id`) WHERE indexed_at_ms is not updated_at_ms;--> statement-breakpoint
CREATE INDEX `payment_methods_own_address` ON `payment_methods` (`merchant_id`,lower(address)) WHERE address_index is not null;
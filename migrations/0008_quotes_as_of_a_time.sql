ALTER TABLE `payment_methods` ADD `quote_for_micros` integer;--> statement-breakpoint
ALTER TABLE `payment_methods` ADD `locked_until_ms` integer;--> statement-breakpoint
ALTER TABLE `payment_methods` ADD `quotes` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `payment_methods` DROP COLUMN `earlier_quotes`;--> statement-breakpoint
ALTER TABLE `payments` ADD `market_micros` integer;--> statement-breakpoint
ALTER TABLE `payments` ADD `weighed_by` text;--> statement-breakpoint
ALTER TABLE `payments` ADD `weighed_quote` text;--> statement-breakpoint
CREATE INDEX `payments_unweighed` ON `payments` (`created_at_ms`) WHERE weighed_by = 'NO_RATE';
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`display` text NOT NULL,
	`permissions` text NOT NULL,
	`allowed_ips` text,
	`expires_at_ms` integer,
	`revoked_at_ms` integer,
	`created_by` text,
	`last_used_at_ms` integer,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_merchant` ON `api_keys` (`merchant_id`);--> statement-breakpoint
CREATE TABLE `customers` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`email` text,
	`email_key` text,
	`name` text,
	`address` text,
	`phone_number` text,
	`metadata` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_email` ON `customers` (`merchant_id`,`email_key`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`type` text NOT NULL,
	`invoice_id` text,
	`sequence` integer,
	`data` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_lock` ON `events` (`invoice_id`,`sequence`);--> statement-breakpoint
CREATE TABLE `amount_reservations` (
	`network` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`address` text NOT NULL,
	`units` text NOT NULL,
	`price_units` text NOT NULL,
	`salt` integer NOT NULL,
	`invoice_id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`held_until_ms` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`network`, `cryptocurrency`, `address`, `units`)
);
--> statement-breakpoint
CREATE INDEX `amount_reservations_held` ON `amount_reservations` (`held_until_ms`);--> statement-breakpoint
CREATE INDEX `amount_reservations_price` ON `amount_reservations` (`network`,`cryptocurrency`,`address`,`price_units`,`salt`);--> statement-breakpoint
CREATE INDEX `amount_reservations_invoice` ON `amount_reservations` (`invoice_id`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`customer_id` text,
	`product_id` text,
	`external_id` text,
	`name` text NOT NULL,
	`description` text,
	`redirect_url` text,
	`metadata` text,
	`amount_micros` integer NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`received_micros` integer NOT NULL,
	`confirmed_micros` integer NOT NULL,
	`is_late` integer NOT NULL,
	`needs_review` integer NOT NULL,
	`resolution` text,
	`warnings` text NOT NULL,
	`underpaid_tolerance_micros` integer NOT NULL,
	`overpaid_tolerance_micros` integer NOT NULL,
	`late_payment_policy` text NOT NULL,
	`rate_lock_seconds` integer NOT NULL,
	`monitor_seconds` integer NOT NULL,
	`is_from_public_key` integer NOT NULL,
	`event_sequence` integer NOT NULL,
	`timeline_position` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`monitor_until_ms` integer NOT NULL,
	`cancelled_at_ms` integer,
	`closed_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `invoices_feed` ON `invoices` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_status` ON `invoices` (`merchant_id`,`status`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_customer` ON `invoices` (`merchant_id`,`customer_id`,`created_at_ms`,`id`) WHERE customer_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_external_id` ON `invoices` (`merchant_id`,`external_id`) WHERE external_id is not null;--> statement-breakpoint
CREATE INDEX `invoices_due` ON `invoices` (`expires_at_ms`) WHERE status = 'AWAITING_PAYMENT';--> statement-breakpoint
CREATE INDEX `invoices_in_review` ON `invoices` (`merchant_id`,`created_at_ms`,`id`) WHERE needs_review = 1;--> statement-breakpoint
CREATE TABLE `payment_methods` (
	`invoice_id` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`network` text NOT NULL,
	`merchant_id` text NOT NULL,
	`wallet_id` text NOT NULL,
	`wallet_type` text NOT NULL,
	`status` text NOT NULL,
	`reason` text,
	`address` text,
	`address_index` integer,
	`amount_units` text,
	`rate` text,
	`rate_at_ms` integer,
	`rate_sources` text,
	`quoted_at_ms` integer,
	`earlier_quotes` text,
	`required_confirmations` integer NOT NULL,
	`mac` text,
	`mac_key_id` text,
	`activated_at_ms` integer,
	`is_from_public_key` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`invoice_id`, `cryptocurrency`, `network`)
);
--> statement-breakpoint
CREATE INDEX `payment_methods_wallet` ON `payment_methods` (`wallet_id`,`address_index`);--> statement-breakpoint
CREATE INDEX `payment_methods_public` ON `payment_methods` (`merchant_id`) WHERE is_from_public_key = 1 and address_index is not null;--> statement-breakpoint
CREATE INDEX `payment_methods_address` ON `payment_methods` (`network`,`address`) WHERE address is not null;--> statement-breakpoint
CREATE TABLE `timeline_items` (
	`id` text PRIMARY KEY NOT NULL,
	`invoice_id` text NOT NULL,
	`position` integer NOT NULL,
	`payment_status` text NOT NULL,
	`time_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `timeline_items_position` ON `timeline_items` (`invoice_id`,`position`);--> statement-breakpoint
CREATE TABLE `merchants` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`invoice_lifetime_seconds` integer DEFAULT 3600 NOT NULL,
	`rate_lock_seconds` integer DEFAULT 3600 NOT NULL,
	`underpaid_tolerance_basis_points` integer DEFAULT 100 NOT NULL,
	`underpaid_tolerance_max_micros` integer DEFAULT 5000000 NOT NULL,
	`overpaid_tolerance_basis_points` integer DEFAULT 500 NOT NULL,
	`monitor_seconds` integer DEFAULT 86400 NOT NULL,
	`late_payment_policy` text DEFAULT 'REVIEW' NOT NULL,
	`quorum_above_micros` integer,
	`wallet_change_delay_hours` integer DEFAULT 0 NOT NULL,
	`max_active_invoices` integer DEFAULT 10000 NOT NULL,
	`active_invoices` integer DEFAULT 0 NOT NULL,
	`brand` text,
	`frame_ancestors` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `assertions` (
	`name` text NOT NULL,
	`holds` integer NOT NULL,
	CONSTRAINT "assertion_holds" CHECK("assertions"."holds" = 1)
);
--> statement-breakpoint
CREATE TABLE `operations` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`invoice_id` text,
	`network` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`chain_id` integer,
	`tx_hash` text NOT NULL,
	`output_index` text NOT NULL,
	`from_address` text,
	`to_address` text NOT NULL,
	`amount_units` text NOT NULL,
	`fiat_micros` integer,
	`status` text NOT NULL,
	`confirmations` integer NOT NULL,
	`required_confirmations` integer NOT NULL,
	`block_height` integer,
	`is_late` integer NOT NULL,
	`matched_by` text,
	`received_at_ms` integer NOT NULL,
	`confirmed_at_ms` integer,
	`reorged_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_identity` ON `payments` (`network`,`tx_hash`,`output_index`);--> statement-breakpoint
CREATE INDEX `payments_invoice` ON `payments` (`invoice_id`);--> statement-breakpoint
CREATE TABLE `wallets` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`wallet_type` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`network` text NOT NULL,
	`address` text,
	`xpub` text,
	`derivation_path` text,
	`scheme` text,
	`key_hash` text,
	`required_confirmations` integer NOT NULL,
	`is_enabled` integer NOT NULL,
	`last_used_index` integer,
	`next_index` integer,
	`gap` integer,
	`mac` text NOT NULL,
	`mac_key_id` text NOT NULL,
	`frozen_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wallets_live_pair` ON `wallets` (`merchant_id`,`cryptocurrency`,`network`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `wallets_key_hash` ON `wallets` (`key_hash`,`created_at_ms`,`id`) WHERE key_hash is not null and deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `wallets_of_key` ON `wallets` (`merchant_id`,`key_hash`);--> statement-breakpoint
CREATE INDEX `wallets_address` ON `wallets` (`network`,`address`) WHERE address is not null and deleted_at_ms is null;
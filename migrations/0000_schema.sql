CREATE TABLE `address_proofs` (
	`network` text NOT NULL,
	`target` text NOT NULL,
	`merchant_id` text NOT NULL,
	`confirmed_usd_micros` integer NOT NULL,
	PRIMARY KEY(`network`, `target`, `merchant_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`display` text NOT NULL,
	`previous_hash` text,
	`previous_expires_at_ms` integer,
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
CREATE UNIQUE INDEX `api_keys_previous_hash_unique` ON `api_keys` (`previous_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_listed` ON `api_keys` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`action` text NOT NULL,
	`target` text NOT NULL,
	`before` text,
	`after` text,
	`ip` text,
	`request_id` text,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `audit_events_listed` ON `audit_events` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`merchant_id`,`actor_id`,`created_at_ms`,`id`) WHERE actor_kind = 'USER';--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`merchant_id`,`action`,`created_at_ms`,`id`) WHERE action <> 'invoice.created' and action <> 'invoice.status_changed';--> statement-breakpoint
CREATE TABLE `checkouts` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`language` text NOT NULL,
	`opened_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `receipt_mails` (
	`invoice_id` text NOT NULL,
	`recipient` text NOT NULL,
	`merchant_id` text NOT NULL,
	`mailbox` text,
	`at_ms` integer NOT NULL,
	PRIMARY KEY(`invoice_id`, `recipient`)
);
--> statement-breakpoint
CREATE INDEX `receipt_mails_merchant` ON `receipt_mails` (`merchant_id`,`recipient`,`at_ms`);--> statement-breakpoint
CREATE INDEX `receipt_mails_mailbox` ON `receipt_mails` (`merchant_id`,`mailbox`,`at_ms`) WHERE mailbox is not null;--> statement-breakpoint
CREATE INDEX `receipt_mails_at` ON `receipt_mails` (`at_ms`);--> statement-breakpoint
CREATE TABLE `receipts` (
	`invoice_id` text NOT NULL,
	`recipient` text NOT NULL,
	`merchant_id` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_attempt_ms` integer,
	`sent_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`invoice_id`, `recipient`)
);
--> statement-breakpoint
CREATE INDEX `receipts_due` ON `receipts` (`merchant_id`,`next_attempt_ms`) WHERE next_attempt_ms is not null;--> statement-breakpoint
CREATE TABLE `customer_locations` (
	`customer_id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`country` text NOT NULL,
	`city` text,
	`visited_at_ms` integer NOT NULL,
	`allowance_full_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
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
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_email` ON `customers` (`merchant_id`,`email_key`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `customers_listed` ON `customers` (`merchant_id`,`created_at_ms`,`id`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `customers_name` ON `customers` (`merchant_id`,`name`) WHERE deleted_at_ms is null and name is not null;--> statement-breakpoint
CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`type` text NOT NULL,
	`invoice_id` text,
	`sequence` integer,
	`data` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`head_sequence` integer,
	`head_length` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_lock` ON `events` (`invoice_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `events_listed` ON `events` (`merchant_id`);--> statement-breakpoint
CREATE INDEX `events_of_type` ON `events` (`merchant_id`,`type`);--> statement-breakpoint
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
	`origin` text DEFAULT 'API' NOT NULL,
	`event_sequence` integer NOT NULL,
	`timeline_position` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`monitor_until_ms` integer NOT NULL,
	`cancelled_at_ms` integer,
	`closed_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `invoices_feed` ON `invoices` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_status` ON `invoices` (`merchant_id`,`status`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invoices_by_customer` ON `invoices` (`merchant_id`,`customer_id`,`created_at_ms`,`id`) WHERE customer_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_external_id` ON `invoices` (`merchant_id`,`external_id`) WHERE external_id is not null;--> statement-breakpoint
CREATE INDEX `invoices_due` ON `invoices` (`expires_at_ms`) WHERE status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION');--> statement-breakpoint
CREATE INDEX `invoices_due_of_merchant` ON `invoices` (`merchant_id`,`expires_at_ms`) WHERE status in ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION');--> statement-breakpoint
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
	`quote_for_micros` integer,
	`locked_until_ms` integer,
	`quotes` text DEFAULT '[]' NOT NULL,
	`required_confirmations` integer NOT NULL,
	`mac` text,
	`mac_key_id` text,
	`activated_at_ms` integer,
	`remainder_units` text,
	`is_from_public_key` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`invoice_id`, `cryptocurrency`, `network`)
);
--> statement-breakpoint
CREATE INDEX `payment_methods_wallet` ON `payment_methods` (`wallet_id`,`address_index`) WHERE address_index is not null;--> statement-breakpoint
CREATE INDEX `payment_methods_public` ON `payment_methods` (`merchant_id`,`activated_at_ms`) WHERE is_from_public_key = 1 and address_index is not null;--> statement-breakpoint
CREATE INDEX `payment_methods_address` ON `payment_methods` (`network`,`address`,`address_index`) WHERE address is not null;--> statement-breakpoint
CREATE INDEX `payment_methods_watch` ON `payment_methods` (`network`,`activated_at_ms`) WHERE status = 'ACTIVE';--> statement-breakpoint
CREATE INDEX `payment_methods_turns` ON `payment_methods` (`network`,`merchant_id`,`activated_at_ms`) WHERE status = 'ACTIVE' and address is not null;--> statement-breakpoint
CREATE TABLE `timeline_items` (
	`id` text NOT NULL,
	`invoice_id` text NOT NULL,
	`position` integer NOT NULL,
	`payment_status` text NOT NULL,
	`time_ms` integer NOT NULL,
	PRIMARY KEY(`invoice_id`, `position`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `method_amounts` (
	`network` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`address` text NOT NULL,
	`units` text NOT NULL,
	`invoice_id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`price_units` text NOT NULL,
	`rank` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`open_until_ms` integer NOT NULL,
	`held_until_ms` integer NOT NULL,
	`release_after_ms` integer NOT NULL,
	`released_at_ms` integer,
	PRIMARY KEY(`network`, `cryptocurrency`, `address`, `invoice_id`, `units`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `method_amounts_amount` ON `method_amounts` (`network`,`cryptocurrency`,`address`,`rank`,((100 + length(units)) || units),`units`) WHERE released_at_ms is null;--> statement-breakpoint
CREATE INDEX `method_amounts_open` ON `method_amounts` (`network`,`cryptocurrency`,`address`,`rank`,(((open_until_ms - created_at_ms >= 1800000) + (open_until_ms - created_at_ms >= 3600000) + (open_until_ms - created_at_ms >= 7200000) + (open_until_ms - created_at_ms >= 14400000) + (open_until_ms - created_at_ms >= 28800000) + (open_until_ms - created_at_ms >= 57600000) + (open_until_ms - created_at_ms >= 115200000) + (open_until_ms - created_at_ms >= 230400000) + (open_until_ms - created_at_ms >= 460800000) + (open_until_ms - created_at_ms >= 921600000) + (open_until_ms - created_at_ms >= 1843200000) + (open_until_ms - created_at_ms >= 3686400000)) * 1000000000 + open_until_ms / (900000 << ((open_until_ms - created_at_ms >= 1800000) + (open_until_ms - created_at_ms >= 3600000) + (open_until_ms - created_at_ms >= 7200000) + (open_until_ms - created_at_ms >= 14400000) + (open_until_ms - created_at_ms >= 28800000) + (open_until_ms - created_at_ms >= 57600000) + (open_until_ms - created_at_ms >= 115200000) + (open_until_ms - created_at_ms >= 230400000) + (open_until_ms - created_at_ms >= 460800000) + (open_until_ms - created_at_ms >= 921600000) + (open_until_ms - created_at_ms >= 1843200000) + (open_until_ms - created_at_ms >= 3686400000)))),((100 + length(units)) || units)) WHERE released_at_ms is null;--> statement-breakpoint
CREATE INDEX `method_amounts_due` ON `method_amounts` (`network`,`release_after_ms`) WHERE released_at_ms is null;--> statement-breakpoint
CREATE INDEX `method_amounts_released` ON `method_amounts` (`network`,`cryptocurrency`,`address`,`held_until_ms`) WHERE released_at_ms is not null;--> statement-breakpoint
CREATE INDEX `method_amounts_old` ON `method_amounts` (`held_until_ms`) WHERE released_at_ms is not null;--> statement-breakpoint
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
	`wallet_change_delay_next_hours` integer,
	`wallet_change_delay_next_from_ms` integer,
	`max_active_invoices` integer DEFAULT 10000 NOT NULL,
	`max_public_invoices` integer DEFAULT 1000 NOT NULL,
	`mail_receipts_to_customers` integer DEFAULT true NOT NULL,
	`mail_receipts_to_merchant` integer DEFAULT false NOT NULL,
	`active_invoices` integer DEFAULT 0 NOT NULL,
	`public_invoices` integer DEFAULT 0 NOT NULL,
	`brand` text,
	`frame_ancestors` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `network_cursors` (
	`network` text PRIMARY KEY NOT NULL,
	`is_resting` integer NOT NULL,
	`since_ms` integer NOT NULL,
	`height` integer,
	`hash` text,
	`checkpoints` text NOT NULL,
	`passed_ms` integer NOT NULL,
	`last_moved_at_ms` integer NOT NULL,
	`tip_height` integer,
	`finalized_height` integer,
	`tip_time_ms` integer,
	`ticked_at_ms` integer,
	`degraded_since_ms` integer,
	`last_outage` text,
	`progress` text DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `stuck_addresses` (
	`network` text NOT NULL,
	`address` text NOT NULL,
	`source` text NOT NULL,
	`read_height` integer NOT NULL,
	`passed_ms` integer NOT NULL,
	`walk` text,
	`failures` integer NOT NULL,
	`since_ms` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`reason` text NOT NULL,
	`told_at_ms` integer,
	PRIMARY KEY(`network`, `address`)
);
--> statement-breakpoint
CREATE INDEX `stuck_addresses_due` ON `stuck_addresses` (`network`,`next_at_ms`);--> statement-breakpoint
CREATE TABLE `watch_turns` (
	`network` text NOT NULL,
	`merchant_id` text NOT NULL,
	`activated_at_ms` integer NOT NULL,
	`before_ms` integer DEFAULT 9007199254740991 NOT NULL,
	`before_position` integer DEFAULT 9007199254740991 NOT NULL,
	`has_found` integer DEFAULT true NOT NULL,
	PRIMARY KEY(`network`, `merchant_id`)
);
--> statement-breakpoint
CREATE INDEX `watch_turns_newest` ON `watch_turns` (`network`,`activated_at_ms`,`merchant_id`);--> statement-breakpoint
CREATE TABLE `notices` (
	`kind` text NOT NULL,
	`thing` text NOT NULL,
	`actor` text NOT NULL,
	`is_linked` integer NOT NULL,
	`merchant_id` text NOT NULL,
	`sent_at_ms` integer NOT NULL,
	`waiting` integer NOT NULL,
	`due_at_ms` integer,
	PRIMARY KEY(`kind`, `thing`, `actor`)
);
--> statement-breakpoint
CREATE INDEX `notices_due` ON `notices` (`due_at_ms`) WHERE due_at_ms is not null;--> statement-breakpoint
CREATE INDEX `notices_sent` ON `notices` (`sent_at_ms`);--> statement-breakpoint
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
	`body_at` integer,
	`created_at_ms` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `payment_claims` (
	`id` text PRIMARY KEY NOT NULL,
	`invoice_id` text NOT NULL,
	`merchant_id` text NOT NULL,
	`network` text NOT NULL,
	`tx_hash` text NOT NULL,
	`outcome` text NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `payment_claims_of_invoice` ON `payment_claims` (`invoice_id`,`created_at_ms`);--> statement-breakpoint
CREATE INDEX `payment_claims_transaction` ON `payment_claims` (`network`,`tx_hash`);--> statement-breakpoint
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
	`market_micros` integer,
	`weighed_by` text,
	`weighed_quote` text,
	`usd_micros` integer,
	`status` text NOT NULL,
	`confirmations` integer NOT NULL,
	`required_confirmations` integer NOT NULL,
	`block_height` integer,
	`block_hash` text,
	`block_time_ms` integer,
	`is_late` integer NOT NULL,
	`matched_by` text,
	`received_at_ms` integer NOT NULL,
	`confirmed_at_ms` integer,
	`reorged_at_ms` integer,
	`last_known_at_ms` integer DEFAULT 0 NOT NULL,
	`final_at_ms` integer,
	`was_ignored` integer DEFAULT false NOT NULL,
	`evidence` text DEFAULT '{}' NOT NULL,
	`resolution` text,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_identity` ON `payments` (`network`,`tx_hash`,`output_index`,`merchant_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `payments_credit` ON `payments` (`network`,`tx_hash`,`output_index`) WHERE invoice_id is not null and matched_by <> 'MANUAL';--> statement-breakpoint
CREATE INDEX `payments_invoice` ON `payments` (`invoice_id`);--> statement-breakpoint
CREATE INDEX `payments_native` ON `payments` (`network`,`block_height`,`to_address`) WHERE output_index = 'native';--> statement-breakpoint
CREATE INDEX `payments_open` ON `payments` (`network`) WHERE final_at_ms is null;--> statement-breakpoint
CREATE INDEX `payments_unweighed` ON `payments` (`created_at_ms`) WHERE weighed_by = 'NO_RATE';--> statement-breakpoint
CREATE INDEX `payments_feed` ON `payments` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `payments_by_status` ON `payments` (`merchant_id`,`status`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `payments_unmatched` ON `payments` (`network`,`to_address`,`created_at_ms`) WHERE status = 'UNMATCHED';--> statement-breakpoint
CREATE TABLE `image_facts` (
	`merchant_id` text NOT NULL,
	`name` text NOT NULL,
	`size` integer NOT NULL,
	`unused_since_ms` integer,
	`swept_at_ms` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `name`)
);
--> statement-breakpoint
CREATE INDEX `image_facts_size` ON `image_facts` (`merchant_id`,`size`);--> statement-breakpoint
CREATE INDEX `image_facts_unused` ON `image_facts` (`unused_since_ms`) WHERE unused_since_ms is not null;--> statement-breakpoint
CREATE INDEX `image_facts_swept` ON `image_facts` (`swept_at_ms`);--> statement-breakpoint
CREATE TABLE `images` (
	`merchant_id` text NOT NULL,
	`name` text NOT NULL,
	`content_type` text NOT NULL,
	`bytes` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`price_micros` integer NOT NULL,
	`currency` text NOT NULL,
	`image` text,
	`is_active` integer NOT NULL,
	`ask_for_name` integer NOT NULL,
	`ask_for_address` integer NOT NULL,
	`ask_for_phone_number` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `products_listed` ON `products` (`merchant_id`,`created_at_ms`,`id`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `products_name` ON `products` (`merchant_id`,`name`);--> statement-breakpoint
CREATE INDEX `products_image` ON `products` (`merchant_id`,`image`) WHERE image is not null;--> statement-breakpoint
CREATE TABLE `public_holds` (
	`invoice_id` text NOT NULL,
	`kind` text NOT NULL,
	`pair` text NOT NULL,
	`network` text NOT NULL,
	`merchant_id` text NOT NULL,
	PRIMARY KEY(`invoice_id`, `kind`, `pair`, `network`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `public_holds_network` ON `public_holds` (`merchant_id`,`kind`,`network`);--> statement-breakpoint
CREATE TABLE `report_buckets` (
	`merchant_id` text NOT NULL,
	`starts_at_ms` integer NOT NULL,
	`currency` text NOT NULL,
	`network` text NOT NULL,
	`cryptocurrency` text NOT NULL,
	`created` integer NOT NULL,
	`paid` integer NOT NULL,
	`overpaid` integer NOT NULL,
	`underpaid` integer NOT NULL,
	`expired` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`timed` integer NOT NULL,
	`seconds_to_paid` integer NOT NULL,
	`payments` integer NOT NULL,
	`unpriced` integer NOT NULL,
	`units_low` integer NOT NULL,
	`units_mid` integer NOT NULL,
	`units_high` integer NOT NULL,
	`fiat_low` integer NOT NULL,
	`fiat_high` integer NOT NULL,
	PRIMARY KEY(`merchant_id`, `starts_at_ms`, `currency`, `network`, `cryptocurrency`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `invitation_mails` (
	`merchant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`email_key` text,
	`at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `invitation_mails_mailbox` ON `invitation_mails` (`email_key`,`at_ms`) WHERE email_key is not null;--> statement-breakpoint
CREATE INDEX `invitation_mails_merchant` ON `invitation_mails` (`merchant_id`,`at_ms`);--> statement-breakpoint
CREATE INDEX `invitation_mails_user` ON `invitation_mails` (`user_id`,`at_ms`);--> statement-breakpoint
CREATE INDEX `invitation_mails_at` ON `invitation_mails` (`at_ms`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`invited_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`accepted_at_ms` integer,
	`accepted_by` text,
	`revoked_at_ms` integer,
	`mailed_at_ms` integer,
	`mail_due_at_ms` integer,
	`waits_for_mailbox` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`merchant_id`,`email_key`) WHERE accepted_at_ms is null and revoked_at_ms is null;--> statement-breakpoint
CREATE INDEX `invitations_listed` ON `invitations` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_invitee` ON `invitations` (`email_key`) WHERE accepted_at_ms is null and revoked_at_ms is null;--> statement-breakpoint
CREATE INDEX `invitations_inviter` ON `invitations` (`merchant_id`,`invited_by`);--> statement-breakpoint
CREATE INDEX `invitations_mail_due` ON `invitations` (`mail_due_at_ms`) WHERE mail_due_at_ms is not null;--> statement-breakpoint
CREATE INDEX `invitations_mail_due_of_merchant` ON `invitations` (`merchant_id`,`mail_due_at_ms`) WHERE mail_due_at_ms is not null;--> statement-breakpoint
CREATE INDEX `invitations_mail_due_of_inviter` ON `invitations` (`invited_by`,`mail_due_at_ms`) WHERE mail_due_at_ms is not null;--> statement-breakpoint
CREATE INDEX `invitations_mail_due_of_mailbox` ON `invitations` (`email_key`,`mail_due_at_ms`) WHERE mail_due_at_ms is not null;--> statement-breakpoint
CREATE TABLE `members` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `members_pair` ON `members` (`merchant_id`,`user_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `members_owner` ON `members` (`merchant_id`) WHERE role = 'OWNER';--> statement-breakpoint
CREATE INDEX `members_user` ON `members` (`user_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `members_listed` ON `members` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE TABLE `teams` (
	`merchant_id` text PRIMARY KEY NOT NULL,
	`enforce_tfa` integer DEFAULT false NOT NULL,
	`enforce_passkey` integer DEFAULT false NOT NULL,
	`enforce_google_login` integer DEFAULT false NOT NULL,
	`enforce_github_login` integer DEFAULT false NOT NULL,
	`enforce_email_verified` integer DEFAULT false NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `job_runs` (
	`job` text PRIMARY KEY NOT NULL,
	`run_id` text NOT NULL,
	`leased_until_ms` integer NOT NULL,
	`began_at_ms` integer NOT NULL,
	`ended_at_ms` integer
);
--> statement-breakpoint
CREATE TABLE `merchant_turns` (
	`job` text PRIMARY KEY NOT NULL,
	`after` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `unsettled_invoices` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`failures` integer NOT NULL,
	`reason` text NOT NULL,
	`retry_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `unsettled_invoices_retry` ON `unsettled_invoices` (`retry_at_ms`);--> statement-breakpoint
CREATE TABLE `backup_codes` (
	`user_id` text NOT NULL,
	`mac` text NOT NULL,
	`mac_key_id` text NOT NULL,
	`used_at_ms` integer,
	PRIMARY KEY(`user_id`, `mac`)
);
--> statement-breakpoint
CREATE TABLE `email_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`purpose` text NOT NULL,
	`email_key` text NOT NULL,
	`email` text NOT NULL,
	`bound_to` text NOT NULL,
	`mac` text NOT NULL,
	`mac_key_id` text NOT NULL,
	`identity` text,
	`tries` integer NOT NULL,
	`ip` text,
	`site` text,
	`is_counted` integer DEFAULT true NOT NULL,
	`known_browser` text,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`consumed_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `email_codes_address` ON `email_codes` (`email_key`,`created_at_ms`) WHERE is_counted;--> statement-breakpoint
CREATE INDEX `email_codes_bound` ON `email_codes` (`bound_to`,`purpose`,`email_key`);--> statement-breakpoint
CREATE INDEX `email_codes_ip` ON `email_codes` (`ip`,`created_at_ms`) WHERE ip is not null;--> statement-breakpoint
CREATE INDEX `email_codes_site` ON `email_codes` (`site`,`created_at_ms`) WHERE site is not null;--> statement-breakpoint
CREATE INDEX `email_codes_known` ON `email_codes` (`email_key`,`created_at_ms`) WHERE known_browser is not null;--> statement-breakpoint
CREATE INDEX `email_codes_expiry` ON `email_codes` (`expires_at_ms`);--> statement-breakpoint
CREATE TABLE `factor_guesses` (
	`scope` text PRIMARY KEY NOT NULL,
	`failures` integer NOT NULL,
	`ends_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `factor_guesses_end` ON `factor_guesses` (`ends_at_ms`);--> statement-breakpoint
CREATE TABLE `identities` (
	`provider` text NOT NULL,
	`subject` text NOT NULL,
	`user_id` text NOT NULL,
	`email` text,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer,
	PRIMARY KEY(`provider`, `subject`)
);
--> statement-breakpoint
CREATE INDEX `identities_user` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`is_backed_up` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_user` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`state` text NOT NULL,
	`signed_in_with` text NOT NULL,
	`factor` text,
	`factor_at_ms` integer,
	`ip` text,
	`user_agent` text,
	`created_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_hash_unique` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`,`created_at_ms`);--> statement-breakpoint
CREATE INDEX `sessions_seen` ON `sessions` (`last_seen_at_ms`);--> statement-breakpoint
CREATE TABLE `single_use_tokens` (
	`hash` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`user_id` text,
	`session_id` text,
	`data` text,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `single_use_tokens_expiry` ON `single_use_tokens` (`expires_at_ms`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text,
	`email_verified_at_ms` integer,
	`totp_secret` text,
	`totp_enabled_at_ms` integer,
	`totp_last_step` integer,
	`email_otp_enabled_at_ms` integer,
	`factor_failures` integer DEFAULT 0 NOT NULL,
	`factor_window_start_ms` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_key_unique` ON `users` (`email_key`);--> statement-breakpoint
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
	`usable_from_ms` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL,
	`deleted_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wallets_live_pair` ON `wallets` (`merchant_id`,`cryptocurrency`,`network`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `wallets_key_hash` ON `wallets` (`key_hash`,`created_at_ms`,`id`) WHERE key_hash is not null and deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `wallets_of_key` ON `wallets` (`merchant_id`,`key_hash`);--> statement-breakpoint
CREATE INDEX `wallets_address` ON `wallets` (`network`,`address`) WHERE address is not null and deleted_at_ms is null;--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`event_id` text NOT NULL,
	`event_type` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`step` integer NOT NULL,
	`next_attempt_ms` integer NOT NULL,
	`claim` text,
	`wakes` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`webhook_id`,`next_attempt_ms`) WHERE status = 'PENDING';--> statement-breakpoint
CREATE INDEX `deliveries_leased` ON `deliveries` (`merchant_id`,`next_attempt_ms`) WHERE claim is not null;--> statement-breakpoint
CREATE INDEX `deliveries_listed` ON `deliveries` (`webhook_id`,`status`);--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`at_ms` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`status_code` integer,
	`error` text,
	`request_headers` text NOT NULL,
	`response` text,
	PRIMARY KEY(`delivery_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `webhook_secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`sealed` text NOT NULL,
	`preview` text NOT NULL,
	`expires_at_ms` integer,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhook_secrets_webhook` ON `webhook_secrets` (`webhook_id`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`merchant_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`description` text,
	`is_active` integer NOT NULL,
	`retry_count` integer NOT NULL,
	`timeout_ms` integer NOT NULL,
	`failures_in_row` integer NOT NULL,
	`failing_since_ms` integer,
	`probe_at_ms` integer,
	`disabled_reason` text,
	`disabled_at_ms` integer,
	`created_at_ms` integer NOT NULL,
	`updated_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `webhooks_merchant` ON `webhooks` (`merchant_id`);--> statement-breakpoint
-- Counts of active invoices of each merchant, for the limits of the merchant and of strangers. Triggers, so that no writer can forget them, and written
-- so that whatever splits statements takes each for one (test/unit/platform/db/migrations.test.ts).
CREATE TRIGGER `invoices_count_insert` AFTER INSERT ON `invoices`
BEGIN
	UPDATE `merchants` SET `active_invoices` = `active_invoices` + (NEW.origin = 'API' AND NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')),
		`public_invoices` = `public_invoices` + (NEW.origin <> 'API' AND NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) WHERE `id` = NEW.merchant_id;
END;
--> statement-breakpoint
CREATE TRIGGER `invoices_count_update` AFTER UPDATE OF `status` ON `invoices`
BEGIN
	UPDATE `merchants` SET
		`active_invoices` = `active_invoices` + (NEW.origin = 'API') * ((NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) - (OLD.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION'))),
		`public_invoices` = `public_invoices` + (NEW.origin <> 'API') * ((NEW.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')) - (OLD.status IN ('AWAITING_PAYMENT', 'PENDING_CONFIRMATION')))
		WHERE `id` = NEW.merchant_id;
END;
--> statement-breakpoint
-- A public address is held while its invoice waits for money, a public invoice while it is active.
CREATE TRIGGER `invoices_end_public_holds` AFTER UPDATE OF `status` ON `invoices` WHEN NEW.status <> 'AWAITING_PAYMENT'
BEGIN
	DELETE FROM `public_holds` WHERE `invoice_id` = NEW.id AND (`kind` = 'ADDRESS' OR NEW.status <> 'PENDING_CONFIRMATION');
END;
--> statement-breakpoint
-- An activation gives its merchant a turn of the watch. Activations within a minute of the last one write nothing more.
CREATE TRIGGER `payment_methods_have_turns_insert` AFTER INSERT ON `payment_methods` WHEN NEW.status = 'ACTIVE' AND NEW.address IS NOT NULL AND NEW.activated_at_ms IS NOT NULL
BEGIN
	INSERT INTO `watch_turns` (`network`, `merchant_id`, `activated_at_ms`) SELECT NEW.network, NEW.merchant_id, NEW.activated_at_ms
		WHERE NOT EXISTS (SELECT 1 FROM `watch_turns` WHERE network = NEW.network AND merchant_id = NEW.merchant_id);
	UPDATE `watch_turns` SET `activated_at_ms` = NEW.activated_at_ms, `has_found` = 1
		WHERE network = NEW.network AND merchant_id = NEW.merchant_id AND `activated_at_ms` < NEW.activated_at_ms - 60000;
END;
--> statement-breakpoint
CREATE TRIGGER `payment_methods_have_turns_update` AFTER UPDATE OF `status`, `activated_at_ms` ON `payment_methods` WHEN NEW.status = 'ACTIVE' AND NEW.address IS NOT NULL AND NEW.activated_at_ms IS NOT NULL
BEGIN
	INSERT INTO `watch_turns` (`network`, `merchant_id`, `activated_at_ms`) SELECT NEW.network, NEW.merchant_id, NEW.activated_at_ms
		WHERE NOT EXISTS (SELECT 1 FROM `watch_turns` WHERE network = NEW.network AND merchant_id = NEW.merchant_id);
	UPDATE `watch_turns` SET `activated_at_ms` = NEW.activated_at_ms, `has_found` = 1
		WHERE network = NEW.network AND merchant_id = NEW.merchant_id AND `activated_at_ms` < NEW.activated_at_ms - 60000;
END;

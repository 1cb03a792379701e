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
CREATE INDEX `deliveries_listed` ON `deliveries` (`webhook_id`);--> statement-breakpoint
CREATE INDEX `deliveries_of_status` ON `deliveries` (`webhook_id`,`status`);--> statement-breakpoint
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
CREATE INDEX `events_listed` ON `events` (`merchant_id`);--> statement-breakpoint
CREATE INDEX `events_of_type` ON `events` (`merchant_id`,`type`);
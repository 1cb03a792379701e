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
);
--> statement-breakpoint
CREATE INDEX `audit_events_listed` ON `audit_events` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`merchant_id`,`actor_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`merchant_id`,`action`,`created_at_ms`,`id`);--> statement-breakpoint
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
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_pending` ON `invitations` (`merchant_id`,`email_key`) WHERE accepted_at_ms is null and revoked_at_ms is null;--> statement-breakpoint
CREATE INDEX `invitations_listed` ON `invitations` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_invitee` ON `invitations` (`email_key`) WHERE accepted_at_ms is null and revoked_at_ms is null;--> statement-breakpoint
CREATE INDEX `invitations_inviter` ON `invitations` (`merchant_id`,`invited_by`);--> statement-breakpoint
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
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`consumed_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `email_codes_bound` ON `email_codes` (`bound_to`,`purpose`,`email_key`);--> statement-breakpoint
CREATE INDEX `email_codes_ip` ON `email_codes` (`ip`,`created_at_ms`) WHERE ip is not null;--> statement-breakpoint
CREATE INDEX `email_codes_expiry` ON `email_codes` (`expires_at_ms`);--> statement-breakpoint
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
ALTER TABLE `api_keys` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `previous_expires_at_ms` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_previous_hash_unique` ON `api_keys` (`previous_hash`);--> statement-breakpoint
CREATE INDEX `api_keys_listed` ON `api_keys` (`merchant_id`,`created_at_ms`,`id`);--> statement-breakpoint
ALTER TABLE `wallets` ADD `usable_from_ms` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `customers_listed` ON `customers` (`merchant_id`,`created_at_ms`,`id`) WHERE deleted_at_ms is null;--> statement-breakpoint
CREATE INDEX `customers_name` ON `customers` (`merchant_id`,`name`) WHERE deleted_at_ms is null and name is not null;
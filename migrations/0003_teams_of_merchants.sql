-- Every merchant has one team (Interface 2.3): those made before teams existed get theirs.
INSERT INTO `teams` (`merchant_id`, `updated_at_ms`) SELECT `id`, `updated_at_ms` FROM `merchants`;

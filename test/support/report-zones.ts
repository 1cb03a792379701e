/**
 * Difficult time zones: with offsets of quarter and half hours, with a clock change of half an hour or at midnight, and on both sides of the date
 * line.
 */
export const REPORT_ZONES = [
  "UTC",
  "America/New_York",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "America/St_Johns",
  "America/Havana",
  "America/Santiago",
  "Africa/Cairo",
  "Asia/Beirut",
  "Europe/Berlin",
  "Pacific/Kiritimati",
  "Pacific/Pago_Pago",
] as const;

// Nothing → time zones for random windows: with and without summer time, and half an hour off.

/** Lord Howe moves by half an hour; Kolkata and St. John's are half an hour off. */
export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'America/St_Johns',
] as const;

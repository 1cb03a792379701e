// Named ranges of days, such as this month.

const DAY_MS = 24 * 60 * 60 * 1_000;

export const PRESETS = ["today", "7", "30", "month", "lastMonth"] as const;
type Preset = (typeof PRESETS)[number];

export const PRESET_NAMES: Readonly<Record<Preset, string>> = {
  today: "Today",
  7: "Last 7 days",
  30: "Last 30 days",
  month: "This month",
  lastMonth: "Last month",
};

/** The first and the last day, `YYYY-MM-DD`. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** `today` is a day in the reader's time zone. */
export function presetDays(preset: Preset, today: string): Days {
  switch (preset) {
    case "today":
      return { from: today, to: today };
    case "7":
      return { from: moved(today, -6), to: today };
    case "30":
      return { from: moved(today, -29), to: today };
    case "month":
      return { from: firstOf(today), to: today };
    case "lastMonth": {
      const last = moved(firstOf(today), -1);
      return { from: firstOf(last), to: last };
    }
  }
}

/** The preset with exactly these days; undefined for any other range. */
export function presetOf({ from, to }: Partial<Days>, today: string): Preset | undefined {
  return PRESETS.find((preset) => {
    const days = presetDays(preset, today);
    return days.from === from && days.to === to;
  });
}

function firstOf(date: string): string {
  return `${date.slice(0, 7)}-01`;
}

function moved(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

// How amounts and times are shown to this reader: in the browser's language, and in the time zone chosen on the Account page.
import { useLocalStorage } from "@mantine/hooks";
import {
  coins,
  count,
  dateTime,
  dateTimeWithSeconds,
  day,
  duration,
  elapsed,
  exactTime,
  money,
  percentage,
  type Reader,
  sum,
} from "./formats.ts";

/** The chosen time zone; "" means the computer's own. */
export function useTimeZone() {
  return useLocalStorage({ key: "edgetill-time-zone", defaultValue: "", getInitialValueInEffect: false });
}

/** The name of the time zone in which this reader's days begin. */
export function useZoneName(): string {
  const [timeZone] = useTimeZone();
  if (timeZone !== "") return timeZone;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  // A computer without a time zone reports a fixed offset instead, which the API refuses.
  return /^[A-Za-z]/.test(own) && own !== "Etc/Unknown" ? own : "UTC";
}

export function useFormats() {
  const [timeZone] = useTimeZone();
  const reader: Reader = { locale: undefined, timeZone: timeZone === "" ? undefined : timeZone };
  return {
    money: (amount: string, currency: string) => money(amount, currency, reader),
    sum: (amount: string, currency: string) => sum(amount, currency, reader),
    coins: (amount: string) => coins(amount, reader),
    count: (number: number) => count(number, reader),
    day: (date: string) => day(date, reader),
    duration: (seconds: number) => duration(seconds, reader),
    percentage: (ratio: number) => percentage(ratio, reader),
    dateTime: (time: string) => dateTime(time, reader),
    dateTimeWithSeconds: (time: string) => dateTimeWithSeconds(time, reader),
    elapsed: (from: string, to: string) => elapsed(from, to, reader),
    exactTime: (time: string) => exactTime(time, reader),
  };
}

// How this reader sees amounts and times: the browser's language, and the time zone that they chose on the page Account.
import { useLocalStorage } from "@mantine/hooks";
import { coins, dateTime, exactTime, money, type Reader } from "./formats.ts";

/** "" is the computer's own time zone. */
export function useTimeZone() {
  return useLocalStorage({ key: "edgetill-time-zone", defaultValue: "", getInitialValueInEffect: false });
}

export function useFormats() {
  const [timeZone] = useTimeZone();
  const reader: Reader = { locale: undefined, timeZone: timeZone === "" ? undefined : timeZone };
  return {
    money: (amount: string, currency: string) => money(amount, currency, reader),
    coins: (amount: string) => coins(amount, reader),
    dateTime: (time: string) => dateTime(time, reader),
    exactTime: (time: string) => exactTime(time, reader),
  };
}

// workerd's ICU differs from Node's, so the formats that unit tests check in Node are also checked in workerd, where pages are rendered.
import { expect, it } from "vitest";
import { moneyText, timeText } from "../../../src/platform/texts/format.ts";
import { LANGUAGES } from "../../../src/platform/texts/languages.ts";
import { FORMATTED, FORMATTED_MONEY, FORMATTED_MS, visible } from "../../support/formatted.ts";

it.each(FORMATTED)("%s formats amounts and times in workerd as in Node", (language, ...texts) => {
  const money = FORMATTED_MONEY.map((each) => moneyText(language, each));
  expect([...money, timeText(language, FORMATTED_MS)].map(visible)).toEqual(texts);
});

it("every digit of an amount that a double cannot hold is shown", () => {
  for (const language of FORMATTED.map(([each]) => each)) {
    const digits = moneyText(language, { micros: 900_719_925_474_099_312_345_6n, currency: "EUR" }).replaceAll(
      /\D/g,
      "",
    );
    expect(digits, LANGUAGES[language].name).toBe("9007199254740993123456");
  }
});

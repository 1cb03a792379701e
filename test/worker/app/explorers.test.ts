import { expect, it } from "vitest";
import { explorersBody } from "../../../src/app/explorers/contract.ts";
import { sendWith } from "../../support/access.ts";
import { expectDocumented } from "../../support/documented.ts";

const SETTING = '{"ETH":{"transaction":"https://explorer.example/tx/{hash}"}}';

it.each([
  ["", []],
  [SETTING, [{ network: "ETH", transaction: "https://explorer.example/tx/{hash}", address: null }]],
  ["nonsense", []],
])("anyone can read the block explorers of the setting %j", async (setting, data) => {
  const { status, text } = await sendWith({ EXPLORERS: setting }, "/api/v1/explorers");
  expect([status, JSON.parse(text)]).toEqual([200, { data }]);
  expectDocumented(explorersBody, JSON.parse(text));
});

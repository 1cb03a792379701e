// The walk through the operations of users and operators.
import { Secret, TOTP } from "otpauth";
import { freshEmail, mailedCode } from "../../support/browser.ts";
import { softwareAuthenticator } from "../../support/software-authenticator.ts";
import type { Caller, Walk } from "./walk-harness.ts";
import { seedFinding, seedIdentity, type World } from "./walk-world.ts";

/** A user changes the account, sets up every factor, and removes each again. */
export async function walkAccount(walk: Walk, world: World): Promise<void> {
  const ann = await world.person();
  await walk.call("updateMe", ann.as, { body: { name: "Ann" } });
  await walk.call("revokeSession", ann.as, { params: { sessionId: await world.sessionOf(ann) } });
  await walk.call("revokeOtherSessions", ann.as);
  await walk.call("startIdentityLink", ann.as, { params: { provider: "github" } });
  await walk.call("unlinkIdentity", ann.as, { params: await seedIdentity(ann) });
  await walk.call("enableEmailOtp", ann.as);
  await walk.call("disableEmailOtp", ann.as);
  await walk.call("startStepUp", ann.as);
  await walk.call("enrolTotp", ann.as);
  await walkPasskeys(walk, world);
  await walkSignIn(walk, world);
}

async function walkPasskeys(walk: Walk, world: World): Promise<void> {
  const ben = await world.person();
  const device = await softwareAuthenticator();
  const options = await walk.call("beginPasskeyRegistration", ben.as);
  const credential = await device.create(options as never);
  const { id } = await walk.call("addPasskey", ben.as, { body: { credential } });
  const params = { passkeyId: String(id) };
  await walk.call("updatePasskey", ben.as, { params, body: { name: "Phone" } });
  const browser = world.browser();
  const asked = await walk.call("beginPasskeySignIn", browser.ask);
  await walk.call("verifyPasskeySignIn", browser.ask, { body: { credential: await device.get(asked as never) } });
  await walk.call("removePasskey", browser.ask, { params });
}

async function walkSignIn(walk: Walk, world: World): Promise<void> {
  const email = freshEmail("walk");
  const signIn = async (as: Caller) => {
    await walk.call("startEmailSignIn", as, { body: { email } });
    await walk.call("verifyEmailSignIn", as, { body: { email, code: await mailedCode(email) } });
  };
  const first = world.browser();
  await signIn(first.ask);
  const { secret } = await walk.call("enrolTotp", first.ask);
  const app = new TOTP({ secret: Secret.fromBase32(String(secret)) });
  const confirmed = await walk.call("confirmTotp", first.ask, { body: { code: app.generate() } });
  const replaced = await walk.call("replaceBackupCodes", first.ask);
  if (String(replaced.backupCodes) === String(confirmed.backupCodes))
    throw new Error("the backup codes are the old ones");
  const [code, another] = Array.isArray(replaced.backupCodes) ? replaced.backupCodes.map(String) : [];
  const second = world.browser();
  await signIn(second.ask);
  await walk.call("startSecondFactor", second.ask);
  await walk.call("verifySecondFactor", second.ask, { body: { code } });
  await walk.call("verifyStepUp", second.ask, { body: { code: another } });
  await walk.call("disableTotp", second.ask);
  await walk.call("signOut", second.ask);
}

/** Operators switch networks, suspend merchants, and appoint or remove each other. */
export async function walkOperators(walk: Walk, world: World, merchantId: string): Promise<void> {
  const [ann, ben] = [await world.person({ operatorSinceMs: 1 }), await world.person()];
  const network = { params: { network: "ETH" } };
  for (const operationId of ["pauseNetwork", "resumeNetwork"]) await walk.call(operationId, ann.as, network);
  await walk.call("rereadNetwork", ann.as, { ...network, body: { fromHeight: 10, toHeight: 20 } });
  await walk.call("endReread", ann.as, network);
  await walk.call("tryNetworkSources", ann.as, network);
  await walk.call("sendTestAlert", ann.as);
  await walk.call("recordAlertProof", ann.as, { body: { outcome: "ARRIVED" } });
  for (const operationId of ["suspendMerchant", "resumeMerchant"])
    await walk.call(operationId, ann.as, { params: { merchantId } });
  await walk.call("reviewRestoreFinding", ann.as, { params: { findingId: await seedFinding(merchantId) } });
  await walk.call("addOperator", ann.as, { body: { email: ben.email } });
  await walk.call("removeOperator", ann.as, { params: { userId: ann.userId } });
}

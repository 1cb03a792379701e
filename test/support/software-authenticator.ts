// A software authenticator: a key, and the bytes that WebAuthn requires (level 3, sections 6.1 "Authenticator Data", 6.5 "Attestation"; RFC 8949
// CBOR, RFC 9053 and 8230 COSE keys). With `Faults` a test can make any of them wrong.

import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";

export interface Faults {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly isUserVerified?: boolean;
  readonly isUserPresent?: boolean;
  /** The counter's value, instead of the previous one plus one. */
  readonly counter?: number;
  readonly isBackedUp?: boolean;
  /** Client data members to add or change. */
  readonly clientData?: Readonly<Record<string, unknown>>;
  /** Flag bits to flip. */
  readonly flags?: number;
  /** COSE key members to change; undefined omits one. */
  readonly key?: ReadonlyMap<number, unknown>;
  /** Changes the authenticator data before it is signed. */
  readonly authenticatorData?: (data: Uint8Array) => Uint8Array;
  /** Attestation object members to change; undefined omits one. */
  readonly attestationMembers?: ReadonlyMap<string, unknown>;
  /** Changes the attestation object before it is sent. */
  readonly attestationObject?: (object: Uint8Array) => Uint8Array;
  /** The attestation's format; by default `none`, with an empty statement. `packed` is signed with the credential's key. */
  readonly attestation?: "packed" | "packed with certificate" | "fido-u2f" | "apple" | "tpm" | "unknown";
  /** Changes a signature before it is sent. */
  readonly signature?: (der: Uint8Array) => Uint8Array;
  /** The user handle; null omits it. */
  readonly userHandle?: string | null;
  /** The id of a credential other than the signing one; also used for `rawId` unless that is given. */
  readonly id?: string;
  readonly rawId?: string;
}

/** The options of `navigator.credentials.create` that an authenticator reads. */
export interface CreationOptions {
  readonly challenge: string;
  readonly user: { readonly id: string };
}

export interface Authenticator {
  /** Base64url. */
  readonly credentialId: string;
  create(options: CreationOptions, faults?: Faults): Promise<RegistrationResponseJSON>;
  get(options: { readonly challenge: string }, faults?: Faults): Promise<AuthenticationResponseJSON>;
}

type Bytes = Uint8Array<ArrayBuffer>;

export type Algorithm = "ES256" | "EdDSA" | "RS256";

/** Options of a new authenticator. */
interface Traits {
  readonly origin?: string;
  readonly rpId?: string;
  /** If unset, the counter starts at 1; with 0 it never counts, like that of synchronised passkeys. */
  readonly counter?: 0;
  readonly algorithm?: Algorithm;
  readonly idBytes?: number;
  /** Extensions, appended to the authenticator data as a map. */
  readonly extensions?: ReadonlyMap<string, unknown>;
}

export async function softwareAuthenticator(traits: Traits = {}): Promise<Authenticator> {
  return new SoftwareAuthenticator(traits, await keysOf(traits.algorithm ?? "ES256"));
}

class SoftwareAuthenticator implements Authenticator {
  readonly credentialId: string;
  readonly #traits: Traits;
  readonly #keys: Keys;
  readonly #rawId: Uint8Array;
  #counter = 0;
  #userHandle = "";

  constructor(traits: Traits, keys: Keys) {
    this.#traits = traits;
    this.#keys = keys;
    this.#rawId = crypto.getRandomValues(new Uint8Array(traits.idBytes ?? 32));
    this.credentialId = base64urlnopad.encode(this.#rawId);
  }

  async create(options: CreationOptions, faults: Faults = {}): Promise<RegistrationResponseJSON> {
    const { sign, coseKey } = this.#keys;
    this.#userHandle = options.user.id;
    const key = cbor(changed(coseKey, faults.key));
    const attested = concat([new Uint8Array(16), uint(this.#rawId.length, 2), this.#rawId, key]);
    const authData = await this.#authenticatorData(faults, attested);
    const client = this.#clientData("webauthn.create", options.challenge, faults);
    const statement = await attestationOf(faults.attestation, concat([authData, await sha256(client)]), sign);
    const members = new Map<string, unknown>([
      ["fmt", statement.fmt],
      ["attStmt", statement.attStmt],
      ["authData", authData],
    ]);
    const object = cbor(changed(members, faults.attestationMembers));
    return {
      ...this.#envelope(faults),
      response: {
        clientDataJSON: base64urlnopad.encode(client),
        attestationObject: base64urlnopad.encode(faults.attestationObject?.(object) ?? object),
        transports: ["internal", "hybrid"],
      },
    };
  }

  async get(options: { readonly challenge: string }, faults: Faults = {}): Promise<AuthenticationResponseJSON> {
    const authData = await this.#authenticatorData(faults);
    const client = this.#clientData("webauthn.get", options.challenge, faults);
    const handle = faults.userHandle === undefined ? this.#userHandle : faults.userHandle;
    const der = await this.#keys.sign(concat([authData, await sha256(client)]));
    return {
      ...this.#envelope(faults),
      response: {
        clientDataJSON: base64urlnopad.encode(client),
        authenticatorData: base64urlnopad.encode(authData),
        signature: base64urlnopad.encode(faults.signature?.(der) ?? der),
        ...(handle === null ? {} : { userHandle: handle }),
      },
    };
  }

  async #authenticatorData(faults: Faults, attested?: Uint8Array): Promise<Bytes> {
    const { rpId = "localhost", extensions, counter: counting } = this.#traits;
    if (counting !== 0) this.#counter += 1;
    const { isUserPresent = true, isUserVerified = true, isBackedUp = counting === 0 } = faults;
    const isAttested = attested !== undefined;
    const isExtended = extensions !== undefined;
    const data = concat([
      await sha256(utf8ToBytes(faults.rpId ?? rpId)),
      [flags({ isUserPresent, isUserVerified, isBackedUp, isAttested, isExtended }) ^ (faults.flags ?? 0)],
      uint(faults.counter ?? this.#counter, 4),
      attested ?? [],
      extensions === undefined ? [] : cbor(extensions),
    ]);
    return new Uint8Array(faults.authenticatorData?.(data) ?? data);
  }

  #clientData(type: string, challenge: string, faults: Faults): Uint8Array {
    const { origin = "http://localhost:8787" } = this.#traits;
    return utf8ToBytes(
      JSON.stringify({
        type: faults.type ?? type,
        challenge: faults.challenge ?? challenge,
        origin: faults.origin ?? origin,
        crossOrigin: faults.crossOrigin ?? false,
        ...faults.clientData,
      }),
    );
  }

  #envelope(faults: Faults) {
    const id = faults.id ?? this.credentialId;
    const kind = { type: "public-key", authenticatorAttachment: "platform" } as const;
    return { id, rawId: faults.rawId ?? id, ...kind, clientExtensionResults: {} };
  }
}

interface Keys {
  readonly sign: (data: Uint8Array) => Promise<Uint8Array>;
  readonly coseKey: ReadonlyMap<number, unknown>;
}

const SIGNING = {
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    modulusLength: 2_048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: "SHA-256",
  },
} as const;

async function keysOf(algorithm: Algorithm): Promise<Keys> {
  const signing = SIGNING[algorithm];
  const pair = await crypto.subtle.generateKey(signing, true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error(`${algorithm} gave no pair of keys`);
  const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  if (jwk instanceof ArrayBuffer) throw new Error("a JWK is no bytes");
  const bytes = (member: string | undefined) => base64urlnopad.decode(member ?? "");
  const raw = async (data: Uint8Array) =>
    new Uint8Array(await crypto.subtle.sign(signing, pair.privateKey, new Uint8Array(data)));
  // kty, alg, crv (of RSA: n), x (of RSA: e), y
  if (algorithm === "ES256")
    return {
      sign: async (data) => derOf(await raw(data)),
      coseKey: new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytes(jwk.x)],
        [-3, bytes(jwk.y)],
      ]),
    };
  if (algorithm === "EdDSA")
    return {
      sign: raw,
      coseKey: new Map<number, unknown>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, bytes(jwk.x)],
      ]),
    };
  return {
    sign: raw,
    coseKey: new Map<number, unknown>([
      [1, 3],
      [3, -257],
      [-1, bytes(jwk.n)],
      [-2, bytes(jwk.e)],
    ]),
  };
}

function changed<K>(members: ReadonlyMap<K, unknown>, changes: ReadonlyMap<K, unknown> = new Map()): Map<K, unknown> {
  return new Map([...members, ...changes].filter(([key]) => !changes.has(key) || changes.get(key) !== undefined));
}

async function sha256(data: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(data)));
}

/** WebAuthn 6.1: UP bit 0, UV bit 2, BE bit 3, BS bit 4, AT bit 6, ED bit 7. */
function flags(of: {
  readonly isUserPresent: boolean;
  readonly isUserVerified: boolean;
  readonly isBackedUp: boolean;
  readonly isAttested: boolean;
  readonly isExtended: boolean;
}): number {
  const backup = of.isBackedUp ? 0b0001_1000 : 0;
  const parts = (of.isAttested ? 0b0100_0000 : 0) | (of.isExtended ? 0b1000_0000 : 0);
  return (of.isUserPresent ? 1 : 0) | (of.isUserVerified ? 0b100 : 0) | backup | parts;
}

async function attestationOf(
  kind: Faults["attestation"],
  signed: Uint8Array,
  sign: (data: Uint8Array) => Promise<Uint8Array>,
): Promise<{ readonly fmt: string; readonly attStmt: ReadonlyMap<unknown, unknown> }> {
  if (kind === undefined) return { fmt: "none", attStmt: new Map() };
  const own = new Map<unknown, unknown>([
    ["alg", -7],
    ["sig", await sign(signed)],
  ]);
  if (kind === "packed") return { fmt: "packed", attStmt: own };
  const fmt = kind === "packed with certificate" ? "packed" : kind;
  return { fmt, attStmt: new Map([...own, ["ver", "2.0"], ["x5c", [hexToBytes("3003020101")]]]) };
}

/** r and s of 32 bytes each, as SEQUENCE of two INTEGERs. */
export function derOf(raw: Uint8Array): Bytes {
  const body = concat([derInteger(raw.subarray(0, 32)), derInteger(raw.subarray(32))]);
  return concat([[0x30, body.length], body]);
}

function derInteger(bytes: Uint8Array): Bytes {
  const hex = bytesToHex(bytes).replace(/^(00)+(?=..)/, "");
  const value = hexToBytes(Number.parseInt(hex.slice(0, 2), 16) >= 0x80 ? `00${hex}` : hex);
  return concat([[0x02, value.length], value]);
}

/** Encodes integers, texts, bytes, booleans, null, lists and maps. */
export function cbor(value: unknown): Bytes {
  if (value === null) return concat([[0xf6]]);
  if (typeof value === "boolean") return concat([[value ? 0xf5 : 0xf4]]);
  if (typeof value === "number") return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (value instanceof Uint8Array) return concat([head(2, value.length), value]);
  if (typeof value === "string") return concat([head(3, utf8ToBytes(value).length), utf8ToBytes(value)]);
  if (Array.isArray(value)) return concat([head(4, value.length), ...value.map(cbor)]);
  if (value instanceof Map) return concat([head(5, value.size), ...[...value].flat().map(cbor)]);
  throw new Error(`no CBOR for ${typeof value}`);
}

function head(major: number, count: number): Bytes {
  const type = major << 5;
  if (count < 24) return concat([[type | count]]);
  return count < 256 ? concat([[type | 24, count]]) : concat([[type | 25], uint(count, 2)]);
}

function uint(value: number, bytes: number): Uint8Array {
  return hexToBytes(value.toString(16).padStart(bytes * 2, "0"));
}

function concat(parts: readonly (Uint8Array | readonly number[])[]): Bytes {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

// Stands in for the X.509 and ASN.1 packages that @simplewebauthn/server imports (wrangler.toml, vitest.config.ts): they check certificates of
// authenticators, we ask for none, and they would be a third of the Worker and of its start. One thing of theirs is used without
// certificates, the DER around an ECDSA signature; everything else refuses. A name that the library newly imports fails the build.
import { type EcdsaSignature, ecdsaSignatureOf } from "./ecdsa-signature.ts";

function refuse(): never {
  throw new Error("attestation is not supported");
}

/** Thrown at, never made: certificates and what is in them. */
class Certified {
  constructor() {
    refuse();
  }
}

// @peculiar/asn1-ecc
export class ECDSASigValue {}
export const ECParameters = Certified;
export const id_ecPublicKey = "";
export const id_secp256r1 = "";
export const id_secp384r1 = "";
export const id_ecdsaWithSHA256 = "";
export const id_ecdsaWithSHA384 = "";
export const id_ecdsaWithSHA512 = "";

// @peculiar/asn1-schema
export const AsnParser = {
  parse(data: Uint8Array, schema: unknown): EcdsaSignature {
    if (schema !== ECDSASigValue) refuse();
    const signature = ecdsaSignatureOf(data);
    if (signature === undefined) throw new Error("not an ECDSA signature in DER");
    return signature;
  },
};
export const OctetString = Certified;

// @peculiar/asn1-x509
export const BasicConstraints = Certified;
export const Certificate = Certified;
export const ExtendedKeyUsage = Certified;
export const SubjectAlternativeName = Certified;
export const id_ce_basicConstraints = "";
export const id_ce_extKeyUsage = "";
export const id_ce_subjectAltName = "";

// @peculiar/asn1-rsa
export const RSAPublicKey = Certified;
export const id_rsaEncryption = "";
export const id_sha1WithRSAEncryption = "";
export const id_sha256WithRSAEncryption = "";
export const id_sha384WithRSAEncryption = "";
export const id_sha512WithRSAEncryption = "";

// @peculiar/asn1-x509-post-quantum
export const id_ml_dsa_44 = "";
export const id_ml_dsa_65 = "";
export const id_ml_dsa_87 = "";

// @peculiar/asn1-android
export const KeyDescription = Certified;
export const id_ce_keyDescription = "";

// @peculiar/x509, and reflect-metadata for its side effect alone
export const AuthorityKeyIdentifierExtension = Certified;
export const CRLDistributionPointsExtension = Certified;
export const SubjectKeyIdentifierExtension = Certified;
export const X509Certificate = Certified;
export const X509ChainBuilder = Certified;
export const X509Crl = Certified;

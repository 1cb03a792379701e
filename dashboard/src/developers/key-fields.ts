// Shared by the forms of keys.

export const LONGEST_NAME = 200;

const MOST_ADDRESSES = 100;

export const ADDRESSES_FIELD = {
  label: "Addresses that it works from",
  description: "Addresses or ranges such as 192.0.2.0/24, each ended with Enter. Leave it empty for any address.",
  maxTags: MOST_ADDRESSES,
  splitChars: [",", " ", ";"],
  acceptValueOnBlur: true,
};

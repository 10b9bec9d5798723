// Bytes from letters: base85 as Python writes it, five letters for four bytes, with a full stop instead of "<".
(function (app) {
  "use strict";

  const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;.=>?@^_`{|}~";
  const VALUES = new Uint8Array(128);
  for (let place = 0; place < ALPHABET.length; place += 1) VALUES[ALPHABET.charCodeAt(place)] = place;

  /** The bytes. Of the last letters, fewer than five stand for one byte less than they are. */
  function decoded(text) {
    const missing = (5 - (text.length % 5)) % 5;
    const whole = text + "~".repeat(missing);
    const bytes = new DataView(new ArrayBuffer((whole.length / 5) * 4));
    const value = (place) => VALUES[whole.charCodeAt(place)];
    for (let from = 0, to = 0; from < whole.length; from += 5, to += 4) {
      const high = (value(from) * 85 + value(from + 1)) * 85 + value(from + 2);
      bytes.setUint32(to, (high * 85 + value(from + 3)) * 85 + value(from + 4));
    }
    return new Uint8Array(bytes.buffer, 0, bytes.byteLength - missing);
  }

  app.letters = { decoded };
})(evalsReport);

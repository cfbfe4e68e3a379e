/** Rules of the guard rails, each broken in the source. */

export interface Mutant {
  readonly rule: string;
  /** In `lib`, without its ending. */
  readonly file: string;
  readonly find: string;
  readonly by: string;
}

const inFile =
  (file: string) =>
  (rule: string, find: string, by: string): Mutant => ({ rule, file, find, by });

const checks = inFile('guard-rails/checks');
const counter = inFile('guard-rails/counter');
const order = inFile('guard-rails/order');
const exposure = inFile('guard-rails/exposure');
const guard = inFile('guard-rails/guard');
const controls = inFile('guard-rails/controls');
const begin = inFile('orders/checked-begin');
const asked = inFile('orders/asked-orders');
const released = inFile('orders/release-ended');
const cancels = inFile('guard-rails/cancel-requests');

export const mutants: readonly Mutant[] = [
  checks('restricted symbols pass', 'restricted.has(plainSymbol(symbol))', 'false'),
  checks('restricted symbols are compared as written', 'new Set(limit.map(plainSymbol))', 'new Set(limit)'),
  checks(
    'an unknown symbol is not restricted',
    'if (found === undefined && symbols.length > 0)',
    'if (found === undefined)',
  ),
  checks('any symbol is allowed', 'notAmong(symbols, limit && upper(limit))', 'notAmong(symbols, undefined)'),
  checks(
    'allowed symbols are compared as written',
    'notAmong(symbols, limit && upper(limit))',
    'notAmong(symbols, limit)',
  ),
  checks('any side is allowed', 'notAmong(sides, limit)', 'notAmong(sides, undefined)'),
  checks('any order type is allowed', 'notAmong([orderType], limit)', 'undefined'),
  checks('any session is allowed', 'notAmong(sessions, limit)', 'undefined'),
  checks('any quantity is allowed', 'above(quantity, limit)', 'undefined'),
  checks(
    'any notional is allowed',
    'above(notionalOf(order, lastPrice, marginOf(limits)), limits.max_order_notional)',
    'undefined',
  ),
  checks(
    'a value at its limit is above it',
    'compareDecimals(value, limit) <= 0',
    'compareDecimals(value, limit) < 0',
  ),
  checks('a value above its limit passes', 'compareDecimals(value, limit) <= 0', 'true'),
  checks('values are compared as texts', 'compareDecimals(value, limit) <= 0', 'value <= limit'),
  checks(
    'an unknown value is below its limit',
    'value !== undefined && compareDecimals(value, limit)',
    'value === undefined || compareDecimals(value, limit)',
  ),
  checks('one of several values is enough', 'values.every(', 'values.some('),
  checks('nothing is among what is allowed', 'values.length > 0 && values.every', 'values.every'),
  checks('a price at the collar is beyond it', 'hundredth(limit))) > 0', 'hundredth(limit))) >= 0'),
  checks('no price is beyond the collar', 'hundredth(limit))) > 0', 'hundredth(limit))) > 1'),
  checks('a collar has one side', 'absolute(subtractDecimals(price, last))', 'subtractDecimals(price, last)'),
  checks('a stop price has no collar', '[order.limitPrice, order.stopPrice]', '[order.limitPrice]'),
  checks('a limit price has no collar', '[order.limitPrice, order.stopPrice]', '[order.stopPrice]'),
  checks(
    'without a last price there is no collar',
    'lastPrice === undefined || isFar',
    'lastPrice !== undefined && isFar',
  ),
  checks(
    'without a price of its own an order passes the collar',
    'prices.length === 0 && !hasLimitPrice(order)',
    'prices.length === 0',
  ),
  checks('no margin by itself', "margin = '5'", "margin = '0'"),
  checks('any age of a quote', 'seconds = 15', 'seconds = 3600'),
  checks('an age of a quote in milliseconds', 'seconds * 1000', 'seconds'),
  checks('a quote for what has a limit price', 'isValued && needsLastPrice(order)', 'isValued'),
  checks('a quote for an option', "if (order.instrument !== 'EQUITY') return false;", ''),
  checks('symbols are one whatever they are', ".replace(/[^\\p{L}\\p{N}]/gu, '')", ''),

  counter('one more than the rate', 'inMinute >= rate', 'inMinute > rate'),
  counter('one less than the rate', 'inMinute >= rate', 'inMinute + 1 >= rate'),
  counter('an order counts a millisecond longer', 'at > now - minuteMs', 'at >= now - minuteMs'),
  counter('orders are forgotten', '.filter(([at]) => at > now - keptMs)', '.filter(() => false)'),
  counter('what the rate needs is not kept', 'rate === undefined ? 0 : minuteMs', '0'),
  counter('what repetitions need is not kept', '(repetitions?.seconds ?? 0) * 1000', '0'),
  counter(
    'orders of one request do not count',
    'if (keptMs > 0) recent = ',
    'if (keptMs > 0 && orders.length === 1) recent = ',
  ),
  counter('one repetition more', 'same >= repetitions.orders', 'same > repetitions.orders'),
  counter('a repetition counts for ever', 'what === order.what && at > since', 'what === order.what'),
  counter('a repetition counts a millisecond longer', 'at > since', 'at >= since'),
  counter('any order is a repetition', 'what === order.what && at > since', 'at > since'),
  counter('a replacement is a repetition', "repetitions && order.what !== ''", 'repetitions'),
  counter(
    'the open notional at its limit is above it',
    'compareDecimals(sum, open) > 0',
    'compareDecimals(sum, open) >= 0',
  ),
  counter('the open notional has no limit', 'compareDecimals(sum, open) > 0', 'false'),
  counter('what adds nothing is blocked', "order.added !== '0' && compare", 'compare'),
  counter(
    'an unknown notional is nothing',
    "if (order.added === undefined) fails('max_open_notional', order, open, 'not known');",
    'if (order.added === undefined) continue;',
  ),
  counter(
    'orders of one request are not added',
    'sum = addDecimals(sum, order.added);',
    'sum = addDecimals(before.open, order.added);',
  ),
  counter('nothing is released', 'subtractDecimals(before.open, notional)', 'before.open'),
  counter('all is released', 'subtractDecimals(before.open, notional)', "'0'"),

  order('an option is one share', "OPTION: '100'", "OPTION: '1'"),
  order('a contract of futures is one share', "EQUITY: '1',", "EQUITY: '1', FUTURES: '1',"),
  order('a stop limit has no limit price', "'STOP_LOSS_LIMIT', ", ''),
  order('a market order has a limit price', "new Set(['LIMIT',", "new Set(['MARKET', 'LIMIT',"),
  order('a stop price is not looked at', 'largest([lastPrice, stopPrice]) ?? lastPrice', 'lastPrice'),
  order('no margin', "addDecimals('1', hundredth(margin))", "'1'"),
  order(
    'an amount hides a quantity',
    'if (quantity === undefined) return amount;',
    'if (amount !== undefined) return amount;',
  ),
  order(
    'an amount beside a quantity counts',
    "isByAmount ? before.get('total_cash_amount') : undefined",
    "before.get('total_cash_amount')",
  ),
  order('an amount is not looked at where a quantity is', ', size), amount]', ', size)]'),
  order(
    'the instrument is what a replacement says',
    "before.get('instrument_type') ?? 'EQUITY'",
    "now('instrument_type') ?? 'EQUITY'",
  ),
  order('legs have no symbols', 'const each = [before, changes, ...legs]', 'const each = [before, changes]'),
  order('legs have no quantity', '...[...legs, ...changedLegs].map', '...[].map'),
  order('lower case is another symbol', "one.get('symbol')?.toUpperCase()", "one.get('symbol')"),
  order('no session is any', "?? 'CORE'", "?? 'ALL'"),
  order('a sign makes it smaller', 'absolute(plainDecimal(value))', 'plainDecimal(value)'),
  order('decimals of any length', 'plain.length > maxDigits ? undefined : plain', 'plain'),
  order('texts of any length', 'text === undefined || text.length > maxDigits', 'text === undefined'),
  order(
    'what is no decimal is left out',
    'given.includes(undefined) ? undefined : largest(given)',
    'largest(given)',
  ),
  order(
    'the smallest is the largest',
    'compareDecimals(value, most) > 0',
    'compareDecimals(value, most) < 0',
  ),

  exposure(
    'what is null is changed',
    'new Set(textMembers(replaced, terms)?.keys() ?? [])',
    'new Set(Object.keys(JSON.parse(replaced)))',
  ),
  exposure('a replacement is never partial', 'exposure?.isPartlyReplaced || isPartly', 'false'),
  exposure('a limit price is never taken away', 'exposure?.isUnlimited || !hasLimitPrice(order)', 'false'),
  exposure('the last terms count', '= largestTerms(order, exposure);', '= order;'),
  exposure(
    'replacements before do not count',
    'if (isWhole(order, replaced) && !isUnlimited && !isPartlyReplaced) return order;',
    'return order;',
  ),
  exposure('a whole replacement is the only one', '&& !isUnlimited && !isPartlyReplaced', ''),
  exposure(
    'a price alone makes a whole replacement',
    "changed.has('quantity') && changed.has('limit_price')",
    "changed.has('limit_price')",
  ),
  exposure(
    'a quantity alone makes a whole replacement',
    "changed.has('quantity') && changed.has('limit_price')",
    "changed.has('quantity')",
  ),
  exposure(
    'what was counted is forgotten',
    '{ ...exposure?.counted, ...counted }',
    '{ ...exposure?.counted }',
  ),

  guard(
    'only the gateway is stopped',
    'rules.find(({ control }) => control?.stopped)',
    'rules.slice(0, 1).find(({ control }) => control?.stopped)',
  ),
  guard('what is not known cancels', '&& isUnknown ?', '&& false ?'),
  guard('what fails is told only', "?? 'block'", "?? 'notify'"),
  guard('what is to notify blocks', "action !== 'notify'", 'action !== undefined'),
  guard('one fails, one passes', 'blocking.length > 0', 'blocking.length > 1'),
  guard('counters tell of others', "kind === 'gateway' && countedChecks", "kind === 'user' && countedChecks"),
  guard('a price of nothing is a price', "compareDecimals(last.price, '0') > 0", 'true'),
  guard('a replacement that is smaller frees at once', 'larger(notional, before)', 'notional'),
  guard('what is counted already counts again', 'subtractDecimals(total, before)', 'total'),
  guard('counters of an instance go back', '> counter.revision) continue;', '< -1) continue;'),
  guard('a request may leave later', 'readAt + maxControlAgeMs', 'readAt + 2 * maxControlAgeMs'),
  guard(
    'all accounts have one counter',
    'counter: counterKey(credential, key)',
    'counter: counterKey(credential, kind)',
  ),
  guard(
    'an account has no limits',
    '(control?.limits ?? {})',
    "(kind === 'account' ? {} : control?.limits ?? {})",
  ),
  guard('a replacement repeats an order', '&& !order.isReplacement', ''),
  guard('symbols of any case are no repetition', 'symbols.map(plainSymbol), sides', '"", sides'),
  guard('sides are no part of a repetition', 'symbols.map(plainSymbol), sides,', 'symbols.map(plainSymbol),'),

  guard('what only blocks cancels', "({ action }) => action === 'block_and_cancel'", '() => true'),
  guard('what is to cancel only blocks', "({ action }) => action === 'block_and_cancel'", '() => false'),
  guard('a user’s order cancels the orders of others', 'ofUser ?? ofAccount', 'ofAccount'),
  guard(
    'an account’s limit cancels the user’s orders only',
    "scope.kind === 'gateway' ? forGateway : scope",
    'forGateway',
  ),
  begin('no cancels are asked for', 'verdict.cancelled.length === 0', 'true'),
  begin('cancels that were not written are told', 'isAsked ? [scope] : []', 'true ? [scope] : []'),
  cancels('each order asks', 'at < last.at + holdsMs', 'false'),
  cancels('one is enough for ever', 'at < last.at + holdsMs', 'true'),
  cancels('orders before the last blocked one stay', 'at + holdsMs + slackMs', 'at + slackMs'),
  cancels('one that failed counts', 'if (known.get(scope)?.written === written) known.delete(scope);', ''),

  controls('they count longer', 'maxControlAgeMs = 5000', 'maxControlAgeMs = 5001'),
  controls('they are read again too late', 'waitAfterMs = 3000', 'waitAfterMs = 3001'),
  controls(
    'their age is from the answer',
    'known.set(key, { control: found.get(key), readAt })',
    'known.set(key, { control: found.get(key), readAt: clock() })',
  ),
  controls('the youngest decides', 'readAt: Math.min(', 'readAt: Math.max('),
  controls('what is known counts for ever while they are away', 'ageOf(key) > maxControlAgeMs', 'false'),
  controls(
    'nothing counts while they are away',
    'if (keys.some((key) => ageOf(key) > maxControlAgeMs)) throw error;',
    'throw error;',
  ),

  begin('an old counter refuses', 'verdict.counters.length > 0 && !areFresh', 'false'),
  begin('no time to leave by', 'leaveBy: verdict.leaveBy', 'leaveBy: undefined'),
  begin('counters are not written', 'counters, exposures: changed', 'counters: [], exposures: changed'),
  begin(
    'what a replacement counts is not written',
    'counters, exposures: changed',
    'counters, exposures: []',
  ),
  begin('what an order counts is not written', '...(own && { exposure: writeExposure(own) }),', ''),
  begin(
    'what is noted is not told',
    'if (verdict.noted.length > 0) parts',
    'if (verdict.noted.length > 1) parts',
  ),
  begin('what failed is not written', "verdict?.kind === 'blocked' ? checksOf(verdict.failures) : []", '[]'),
  begin('an order of another program has no entry', '[...entries, ...once(adopted)]', 'entries'),
  begin(
    'the entry of another program’s order counts nothing',
    '{ ...of.entry, exposure: writeExposure(exposure) }',
    'of.entry',
  ),
  asked('what was refused is still there', "entry && entry.state !== 'refused' ?", 'entry ?'),
  asked('any number is looked up', 'lookedUp++ < maxLookedUp', 'true'),
  begin(
    'a blocked request writes no entry',
    'const begun = await journal.begin(entries, clock());\n    if',
    "const begun = 'begun' as string;\n    if",
  ),

  released(
    'an entry keeps what it counts',
    'exposures: [{ key, before: exposure, next: undefined }]',
    'exposures: []',
  ),
  released(
    'a counter keeps what it has',
    'counters: releasing(readExposure(exposure), counters)',
    'counters: []',
  ),
  released(
    'what a replacement has added is not released',
    'if (changed.exposures) exposure = ',
    'if (changed.exposures) return true; exposure = ',
  ),
];

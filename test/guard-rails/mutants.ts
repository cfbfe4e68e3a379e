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
const notional = inFile('guard-rails/notional');
const contracts = inFile('guard-rails/contracts');
const exposure = inFile('guard-rails/exposure');
const guard = inFile('guard-rails/guard');
const controls = inFile('guard-rails/controls');
const begin = inFile('orders/checked-begin');
const asked = inFile('orders/asked-orders');
const released = inFile('orders/release-ended');
const handOver = inFile('orders/hand-over');
const cancels = inFile('guard-rails/cancel-requests');

export const mutants: readonly Mutant[] = [
  checks('restricted symbols pass', 'some((name) => restricted.has(name))', 'some(() => false)'),
  checks('restricted symbols are compared as written', 'new Set(limit.map(plainSymbol));', 'new Set(limit);'),
  checks(
    'an unseen order has no restricted symbol',
    'return all.length > 0 ? undefined :',
    'return true ? undefined :',
  ),
  checks(
    'an adjusted contract has no restricted underlying',
    '!isKnown || isContradictory',
    'isContradictory',
  ),
  checks(
    'any symbol is allowed',
    'return other && { limit: told, came: other.symbol };',
    'return undefined;',
  ),
  checks('allowed symbols are compared as written', 'new Set(upper(limit))', 'new Set(limit)'),
  checks('an unseen order has an allowed symbol', 'if (symbols.length === 0)', 'if (false)'),
  checks('a stock is allowed however it is written', 'isClass && namedBy(', 'namedBy('),
  checks(
    'a contract is not allowed with its underlying',
    'some((name) => plainly.has(name))',
    'some(() => false)',
  ),
  checks('any side is allowed', 'notAmong(order.sides, limit,', 'notAmong(order.sides, undefined,'),
  checks(
    'any order type is allowed',
    "notAmong(order.orderType === undefined ? [] : [order.orderType], limit, unsaid(order, 'order_type'))",
    'undefined',
  ),
  checks('any session is allowed', 'notAmong(order.sessions, limit,', 'notAmong(order.sessions, undefined,'),
  checks('any quantity is allowed', 'above(quantity, limit)', 'undefined'),
  checks('any notional is allowed', 'above(value, limit) ??', ''),
  checks('an unknown notional is allowed', '(unknown && { limit, came: notKnown, unknown })', 'undefined'),
  checks(
    'a value at its limit is above it',
    'compareDecimals(value, limit) <= 0',
    'compareDecimals(value, limit) < 0',
  ),
  checks('a value above its limit passes', 'compareDecimals(value, limit) <= 0', 'true'),
  checks('values are compared as texts', 'compareDecimals(value, limit) <= 0', 'value <= limit'),
  checks(
    'an unknown quantity is below its limit',
    'if (doubt || (quantity ?? amount) === undefined)',
    'if ((quantity ?? amount) === undefined) return undefined; else if (doubt)',
  ),
  checks(
    'what is known of a quantity is not looked at',
    'if (failed) return failed;',
    'if (failed && amount === undefined) return failed;',
  ),
  checks(
    'a price that is read is not compared beside a number that is not',
    'last === undefined ? undefined : prices.find',
    'last === undefined || doubt ? undefined : prices.find',
  ),
  notional(
    'of a combination nothing is known where one leg has no quote',
    '{ value: largest([sum, own]) ?? sum, ...(missing && { unknown: missing }) }',
    'missing ? { value: own, unknown: missing } : { value: largest([sum, own]) ?? sum }',
  ),
  order(
    'a stock is the leg that it may not have',
    "(instrument === 'OPTION' && legs.length > 0 ? legs : [before, ...legs])",
    '(legs.length > 0 ? legs : [before])',
  ),
  guard('what is replaced does not count as it stands', 'standing && worth(standing)', 'undefined'),
  guard('what was counted is valued anew', 'exposure === undefined || isShown ?', 'true ?'),
  guard(
    'what is counted is never more by now',
    'exposure === undefined || isShown ?',
    'exposure === undefined ?',
  ),
  handOver('what was not sent counts for its user', '[...shared, ...own]', 'shared'),
  handOver('what had no effect is repeated', 'parts.flatMap((part) => same[part] ?? [])', '[]'),
  contracts('an empty name is a name', '.filter(Boolean)', ''),
  guard('one user has a share where there is one', "own.user_shares !== 'none'", 'true'),
  guard('a stray leg makes another order', '(hasStrayLegs(order) ? stray : undefined)', 'undefined'),
  checks(
    'one of several values is enough',
    '!allowed.includes(value)',
    '!values.some((one) => allowed.includes(one))',
  ),
  checks('nothing is among what is allowed', 'if (values.length === 0)', 'if (false)'),
  checks('a price at the collar is beyond it', 'hundredth(limit))) > 0', 'hundredth(limit))) >= 0'),
  checks('no price is beyond the collar', 'hundredth(limit))) > 0', 'hundredth(limit))) > 1'),
  checks('a collar has one side', 'absolute(subtractDecimals(price, last))', 'subtractDecimals(price, last)'),
  checks('a stop price has no collar', '[order.limitPrice, order.stopPrice]', '[order.limitPrice]'),
  checks('a limit price has no collar', '[order.limitPrice, order.stopPrice]', '[order.stopPrice]'),
  checks(
    'without a last price there is no collar',
    'prices.length === 0 || last === undefined',
    'prices.length === 0',
  ),
  checks(
    'without a price of its own an order passes the collar',
    'prices.length === 0 && !hasLimitPrice(order)',
    'prices.length === 0',
  ),
  checks('no margin by itself', "margin = '5'", "margin = '0'"),
  checks('any age of a quote', 'seconds = 15', 'seconds = 3600'),
  checks('an age of a quote in milliseconds', 'seconds * 1000', 'seconds'),
  notional('a quote for what has a limit price', '!isLimited(order));', 'true);'),
  checks('no quote for an order by itself', '(isValued ? quotesFor(order) : [])', '[]'),
  contracts('symbols are one whatever they are', ".replace(/[^\\p{L}\\p{N}]/gu, '')", ''),
  contracts('another settlement is another index', "SPXW: 'SPX',", ''),
  contracts('an adjusted contract is of a hundred shares', 'isKnown: !/\\d/.test(root)', 'isKnown: true'),
  contracts(
    'a contract has no underlying',
    '[plainSymbol(upper), root, underlying ?? root]',
    '[plainSymbol(upper)]',
  ),
  contracts(
    'members beside a contract’s symbol do not matter',
    'told !== undefined && told !== rest',
    'false',
  ),

  counter('one more than the rate', 'inMinute >= rate', 'inMinute > rate'),
  counter('one less than the rate', 'inMinute >= rate', 'inMinute + 1 >= rate'),
  counter('an order counts a millisecond longer', 'last > since ?', 'last >= since ?'),
  counter('orders are forgotten', '.filter(([, last]) => last > now - keptMs)', '.filter(() => false)'),
  counter('what repetitions need is not kept', 'const keptMs = seconds * 1000 +', 'const keptMs = seconds +'),
  counter(
    'orders of one request do not count',
    'recent = withOrder(recent, now, minuteMs);',
    'recent = withOrder(before.recent, now, minuteMs);',
  ),
  counter(
    'a counter grows with its orders',
    'if (runs.length <= maxRuns) return runs;',
    'if (runs) return runs;',
  ),
  counter('orders that become one are one', 'one[2] + other[2]', 'one[2]'),
  counter('orders that become one end with the first', 'Math.max(one[1], other[1])', 'one[1]'),
  counter('a refused order counts', 'Math.min(left, counted)', '0'),
  counter('all orders of its time go with a refused one', 'Math.min(left, counted)', 'counted'),
  counter('one repetition more', 'order.same >= repetitions.orders', 'order.same > repetitions.orders'),
  guard('any order is a repetition', 'what}` : undefined', 'scope}` : undefined'),
  guard(
    'repetitions within a request do not count',
    'const counter = counters.get(key) ??',
    'const counter =',
  ),
  counter(
    'the open notional at its limit is above it',
    'compareDecimals(sum, open) > 0',
    'compareDecimals(sum, open) >= 0',
  ),
  counter('the open notional has no limit', 'compareDecimals(sum, open) > 0', 'false'),
  counter(
    'what adds nothing is blocked',
    "order.added !== '0' && compareDecimals(sum, open)",
    'compareDecimals(sum, open)',
  ),
  counter(
    'a user takes all that may be open',
    'compareDecimals(addDecimals(sum, ownSum), open) > 0',
    'false',
  ),
  counter('a user takes all orders of a minute', 'inMinute + ownInMinute >= rate', 'false'),
  guard('a user without limits has no counter', "kind === 'user' ? [ofAll] : []", '[]'),
  guard('a share is judged by what an instance knows', '(share === undefined ? [] : [share])', '[]'),
  counter(
    'an unknown notional is nothing',
    "else if (order.unknown) fails('max_open_notional', order, open, notKnown, { unknown: order.unknown });",
    '',
  ),
  counter(
    'orders of one request are not added',
    'sum = addDecimals(sum, order.added);',
    'sum = addDecimals(before.open, order.added);',
  ),
  counter('nothing is released', 'subtractDecimals(before.open, notional)', 'before.open'),
  counter('all is released', 'subtractDecimals(before.open, notional)', "'0'"),

  notional('a contract’s symbol is a stock', 'parts.find(isMisnamed)', 'parts.find(() => false)'),
  order('a limit price of nothing is a limit', "compareDecimals(limitPrice, '0') > 0", 'true'),
  exposure('a replacement by a price of nothing keeps the limit', ' || !hasLimitPrice(order),', ','),
  exposure('what a price of nothing was is forgotten', '|| !isLimited(order)', '|| !hasLimitPrice(order)'),
  asked('a header says nothing', 'category === undefined ? []', 'true ? []'),
  asked('a parameter says nothing', '/category/i.test(one)', 'false'),
  asked('a path says nothing', 'instrumentsByWord.has(word)', 'false'),
  notional('an option is one share', "optionSize = '100'", "optionSize = '1'"),
  notional('a sale counts by its limit price', 'maySell(order) ||', ''),
  notional('a combination counts by its net price', 'isCombination(order) || maySell', 'maySell'),
  notional('what has no quote is nothing', 'missing ??= {', 'void {'),
  notional('an order that was not seen, or not as a whole, is valued', 'if (doubt) return doubt;', ''),
  order('a price that cannot be read is none', 'return name && {', 'return undefined && {'),
  order('a symbol without an instrument is that of its legs', "|| own.has('symbol')", ''),
  order('an order of legs alone has no instrument', "one.get('instrument_type') === 'OPTION'", 'false'),
  order('extended hours widen no session', "one.get('extended_hours') === 'true'", 'false'),
  checks('what contradicts itself is what it says', '...contradicted(order, limits)', ''),
  checks(
    'an amount buys less than it does',
    'multiplyDecimals(limit, absolute(one))) > 0',
    'multiplyDecimals(limit, absolute(one))) > 1',
  ),
  notional('an event of either side costs nothing', 'largest([own, quantity]) ?? own', 'own'),
  asked('a market says nothing', 'ofMarket === market ? undefined :', 'true ? undefined :'),
  asked('the first place decides', "all.find(({ name }) => name === 'order') ?? all[0]", 'all[0]'),
  asked('a spelling of a word is no word', 'singular(other) === singular(one)', 'other === one'),
  checks(
    'an order’s own price buys no more',
    '[last, order.limitPrice, order.stopPrice].find(',
    '[last].find(',
  ),
  notional('a no is quoted as a no', "order.eventOutcome !== 'yes' ||", ''),
  asked('an unknown category says nothing', 'if (!instrumentsByWord.has(type))', 'if (false)'),
  notional('a limit above the quote does not count', 'largest([sum, own]) ?? sum', 'sum'),
  order('a stop limit has no limit price', "'STOP_LOSS_LIMIT', ", ''),
  order('a market order has a limit price', "new Set(['LIMIT',", "new Set(['MARKET', 'LIMIT',"),
  notional('a stop price is not looked at', '(largest([quote, order.stopPrice]) ?? quote)', 'quote'),
  notional('no margin', "addDecimals('1', hundredth(margin))", "'1'"),
  notional('an amount hides a quantity', 'if (quantity === undefined) {', 'if (amount !== undefined) {'),
  order(
    'an amount beside a quantity does not count',
    "largestOf([before.get('total_cash_amount')",
    "largestOf([isByAmount ? before.get('total_cash_amount') : undefined",
  ),
  notional(
    'an amount is not looked at where a quantity is',
    'largest([limited, amount])',
    'largest([limited])',
  ),
  order(
    'the instrument is what a replacement says',
    "const instrument = before.get('instrument_type');",
    "const instrument = now('instrument_type');",
  ),
  order(
    'legs have no symbols',
    'symbols: [own, changes, ...legs].flatMap',
    'symbols: [own, changes].flatMap',
  ),
  order('legs have no quantity', '...legs.map(contractsOf),', ''),
  order('no session is any', "['support_trading_session', 'CORE']", "['support_trading_session', 'ALL']"),
  order('a sign makes it smaller', 'absolute(plainDecimal(value))', 'plainDecimal(value)'),
  order('decimals of any length', 'plain.length > maxDigits ? undefined : plain', 'plain'),
  order('texts of any length', 'text === undefined || text.length > maxDigits', 'text === undefined'),
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
  exposure('a limit price is never taken away', 'exposure?.isUnlimited || !isLimited(order)', 'false'),
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
  guard('what is not known cancels', "action === 'block_and_cancel' ? 'block' : action", 'action'),
  guard('whatever is not known may be so', 'one === name || ', 'true || '),
  guard(
    'what is not known counts nothing',
    'JSON.stringify(after)',
    'JSON.stringify(known.some(({ prices }) => prices.size === 0) ? readCounter(stored) : after)',
  ),
  guard('what fails is told only', "?? 'block'", "?? 'notify'"),
  guard('what is to notify blocks', "action !== 'notify'", 'action !== undefined'),
  guard('one fails, one passes', 'blocking.length > 0', 'blocking.length > 1'),
  guard('counters tell of others', "kind === 'gateway' && countedChecks", "kind === 'user' && countedChecks"),
  guard(
    'the guard reads prices without naming the user',
    'lastPrice(symbol, maxAgeMs, endBy, user)',
    'lastPrice(symbol, maxAgeMs, endBy)',
  ),
  guard('a price of nothing is a price', "compareDecimals(last.price, '0') > 0", 'true'),
  guard(
    'a replacement that is smaller frees at once',
    "larger(most.value, stands?.value ?? '0'), covered), before)",
    "larger(most.value, stands?.value ?? '0'), covered), '0')",
  ),
  guard('what is counted already counts again', 'subtractDecimals(total, before)', 'total'),
  guard('counters of an instance go back', '> counter.revision) continue;', '< -1) continue;'),
  guard('while closed counters are remembered', 'if (isClosed || this', 'if (this'),
  guard('who slept while closed remembers them', ' || this.#ages.since(this.#askedAt) > maxIdleMs', ''),
  guard('a request may leave later', 'maxControlAgeMs - ageMs', '2 * maxControlAgeMs - ageMs'),
  guard('all accounts have one counter', 'counter: counterKey(key)', 'counter: counterKey(kind)'),
  guard(
    'an account has no limits',
    '(control?.limits ?? {})',
    "(kind === 'account' ? {} : control?.limits ?? {})",
  ),
  guard('a replacement repeats an order', '&& !order.isReplacement', ''),
  guard('symbols of any case are no repetition', 'thingsOf(symbols, parts),', '"",'),
  guard('sides are no part of a repetition', 'sidesOf(sides),', ''),
  guard('legs in another order are another order', 'plainSymbol(symbol)))].sort()', 'plainSymbol(symbol)))]'),
  guard('sides of legs in another order are others', 'ofLegs.sort()', 'ofLegs'),

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
    'control: found.get(key), readAt, read }',
    'control: found.get(key), readAt: ages.now(), read }',
  ),
  controls('the youngest decides', 'ageMs: Math.max(', 'ageMs: Math.min('),
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
    'exposures: [{ key, attempt, before, next: undefined, ...isRefused }]',
    'exposures: []',
  ),
  released(
    'a counter keeps what it has',
    'counters: releasing(readExposure(before), counters)',
    'counters: []',
  ),
  released(
    'parts of a cancelled master count on',
    "found === 'not_found' && (await ended",
    'false && (await ended',
  ),
  released('what was filled of a master ends its parts', " && found.state.filled === '0'", ''),
  released(
    'any status of a master ends its parts',
    "['CANCELLED', 'FAILED'].includes(found.state.status) && ",
    '',
  ),
  released('each part depends on a master', "!dependent.has(own?.get('combo_type')) || ", ''),
  released('one of two masters ends the parts', ' || more.length > 0) return false;', ') return false;'),
  released(
    'a bracket ends with its entry',
    'return bracket?.entry === id ? bracket.ids : [id];',
    'return bracket ? [id] : [id];',
  ),
  released(
    'an exit ends with its bracket',
    'return bracket?.entry === id ? bracket.ids : [id];',
    'return bracket ? bracket.ids : [id];',
  ),
  guard('a bracket is added up', 'if (known[0]?.isEntry === undefined) return totals;', 'return totals;'),
  guard('orders of several requests are a bracket', 'asked.isCombined)', 'true)'),
  guard('a bracket counts as its first order', 'larger(most.total, one.total) === most.total', 'true'),
  guard('a moved exit counts anew', 'isCovered(largest, asked.covered) &&', 'false &&'),
  guard(
    'an exit of more than was entered is covered',
    'compareDecimals(quantity, bracket.quantity) <= 0',
    'true',
  ),
  guard('exits of a bracket repeat each other', "isEntry ? one.what : ''", 'one.what'),
  guard(
    'a moved exit forgets what it counts',
    "larger(subtractDecimals(larger(most.value, stands?.value ?? '0'), covered), before)",
    "subtractDecimals(larger(most.value, stands?.value ?? '0'), covered)",
  ),
  order('any part is an exit', 'exitTypes.has(exit.comboType) &&', ''),
  order('exits of a kind are one', '&& isOnePerType', ''),
  order('an exit has another symbol', 'exit.parts[0]?.symbol === entry.parts[0]?.symbol &&', ''),
  order(
    'an exit has the side of its entry',
    "(exit.sides[0] === 'BUY') !== (entry.sides[0] === 'BUY') &&",
    '',
  ),
  order(
    'an exit closes more than was opened',
    'compareDecimals(exit.quantity!, entry.quantity!) <= 0',
    'true',
  ),
  order('anything has brackets', "    order.instrument === 'EQUITY' &&\n", ''),
  order('brackets have legs', '!hasStrayLegs(order) &&', ''),
  order('an amount is an exit', 'order.amount === undefined &&', ''),
  released('orders of one user come before all others', 'reads.made < readsBefore + readsInTurn', 'true'),
  released(
    'what a replacement has added is not released',
    'if (!changed.exposures) continue;',
    'if (changed.exposures) return true;',
  ),
];

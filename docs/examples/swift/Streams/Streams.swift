// Prints quotes and the user's order events as they come, over LDSwiftEventSource.

import Foundation
import LDSwiftEventSource

@main
struct Streams {
    static func main() async throws {
        let gateway = try env("GATEWAY_URL")
        let key = ["x-api-key": try env("API_KEY")]

        let quotes = Quotes()
        let symbols = "AAPL,MSFT,NVDA"
        let path = "/market-data/stocks/snapshots/stream?symbols=\(symbols)&category=US_STOCK"
        let quoteStream = try stream(gateway + path, headers: { key }) { event, told in
            for symbol in quotes.take(event, told) {
                print("quote \(symbol) \(quotes.bySymbol[symbol]?["price"] ?? "-")")
            }
        }

        // In an app its library for OpenID Connect keeps a token that is valid.
        let token = try await signIn()
        // The key says which app calls, the token who.
        let withToken = { key.merging(["authorization": "Bearer \(token)"]) { $1 } }
        let orderStream = try stream("\(gateway)/trading/events/stream", headers: withToken) { event, told in
            // What changed more than a day ago is not told again: the app reads its orders, and goes on from here.
            if event == "start", told["resumed"] as? Bool != true { print("orders from now on") }
            // An event may come twice, each time with the same event_id.
            if event == "change", let detail = told["detail"] as? [String: Any] {
                print("order \(detail["event_id"] ?? "") \(told["detail-type"] ?? "") \(detail)")
            }
        }

        quoteStream.start()
        orderStream.start()
        while true { try await Task.sleep(nanoseconds: 1_000_000_000) }
    }

    /// The library connects again by itself, after a pause that grows and is never the same, and sends the last event's id.
    static func stream(
        _ address: String,
        headers: @escaping () -> [String: String],
        take: @escaping (_ event: String, _ told: [String: Any]) -> Void
    ) throws -> EventSource {
        guard let url = URL(string: address) else { throw Failure("\(address) is no URL") }
        var config = EventSource.Config(handler: Listener(take: take), url: url)
        // Asked before each connection: by then the last token may be too old.
        config.headerTransform = { $0.merging(headers()) { $1 } }
        // The gateway sends a beat each 5 s: a connection that is silent for longer than this is dead.
        config.idleTimeout = 12
        config.backoffResetThreshold = 5
        config.connectionErrorHandler = { error in
            guard let status = (error as? UnsuccessfulResponseError)?.responseCode else { return .proceed }
            // Another connection would be refused, too.
            return (400..<500).contains(status) && status != 429 ? .shutdown : .proceed
        }
        return EventSource(config: config)
    }

    /// In an app its library for OpenID Connect does this, with the user in front of it.
    static func signIn() async throws -> String {
        guard let url = URL(string: "\(try env("ISSUER_URL"))/token") else { throw Failure("ISSUER_URL is no URL") }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "accept")
        request.httpBody = Data("grant_type=password&username=ada".utf8)
        let (data, response) = try await URLSession.shared.data(for: request)
        let text = String(decoding: data, as: UTF8.self)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw Failure(text) }
        return text
    }

    static func env(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else { throw Failure("\(name) is not set") }
        return value
    }
}

/// What a stream of quotes has told: by symbol a record as getStockSnapshots answers it. Its decimals are texts.
final class Quotes {
    private(set) var bySymbol: [String: [String: Any]] = [:]

    /// Returns the symbols of which the event tells something new.
    func take(_ event: String, _ told: [String: Any]) -> Set<String> {
        var changed: Set<String> = []
        if event == "snapshot" {
            // A connection begins with all that is known: what is not in it is gone.
            changed.formUnion(bySymbol.keys)
            bySymbol = [:]
        }
        for quote in told["quotes"] as? [[String: Any]] ?? [] {
            guard let symbol = quote["symbol"] as? String else { continue }
            if let record = quote["record"] as? [String: Any] {
                bySymbol[symbol] = record
            } else if let set = quote["set"] as? [String: Any] {
                bySymbol[symbol, default: [:]].merge(set) { $1 }
            }
            changed.insert(symbol)
        }
        for (symbol, state) in told["states"] as? [String: String] ?? [:] {
            if state == "unknown" || state == "missing" { bySymbol[symbol] = nil }
            changed.insert(symbol)
        }
        return changed
    }
}

/// The library calls it for one event after the other.
final class Listener: EventHandler {
    private let take: (_ event: String, _ told: [String: Any]) -> Void

    init(take: @escaping (_ event: String, _ told: [String: Any]) -> Void) {
        self.take = take
    }

    func onMessage(eventType: String, messageEvent: MessageEvent) {
        let told = try? JSONSerialization.jsonObject(with: Data(messageEvent.data.utf8)) as? [String: Any]
        take(eventType, told ?? [:])
    }

    func onError(error: Error) {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
    }

    func onOpened() {}
    func onClosed() {}
    func onComment(comment: String) {}
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

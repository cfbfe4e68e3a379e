// Signs in, reads quotes and an account, and places an order: with a client that openapi-generator makes for Swift.

import Foundation
import OpenAPIClient
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
struct Example {
    static func main() async throws {
        do {
            try await run()
        } catch let ErrorResponse.error(status, data, _, error) {
            let text = data.flatMap { String(data: $0, encoding: .utf8) } ?? "\(error)"
            FileHandle.standardError.write(Data("\(status) \(text)\n".utf8))
            exit(1)
        }
    }

    static func run() async throws {
        let token = try await signIn()
        print("sign-in ok")
        let configuration = OpenAPIClientAPIConfiguration.shared
        configuration.basePath = try env("GATEWAY_URL")
        // The key says which app calls, the token who.
        configuration.customHeaders = ["x-api-key": try env("API_KEY"), "authorization": "Bearer \(token)"]
        try await readQuotes()
        let accountId = try await readAccount()
        try await placeOrder(accountId: accountId)
        try await readBars()
        try await readWhatIsNotGranted()
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

    static func readQuotes() async throws {
        let symbols = ["AAPL", "MSFT"]
        let first = try await MarketDataAPI
            .getStockSnapshotsWithRequestBuilder(symbols: symbols, category: .usStock)
            .execute()
        let pollAfter = UInt64(header(first.header, "x-poll-after") ?? "") ?? 1
        print("snapshots ok \(first.body[0].symbol) \(first.body[0].price ?? "-"), ask again after \(pollAfter) s")

        do {
            let etag = header(first.header, "etag")
            _ = try await MarketDataAPI.getStockSnapshots(symbols: symbols, category: .usStock, ifNoneMatch: etag)
            throw Failure("200 in place of 304: the quotes have changed")
        } catch let ErrorResponse.error(304, _, _, _) {
            // The client takes it for a failure: what was read before is still right.
            print("not-modified ok")
        }
        // Nothing new is there before: an app waits as long as it is told.
        try await Task.sleep(nanoseconds: pollAfter * 1_000_000_000)
        _ = try await MarketDataAPI.getStockSnapshots(symbols: symbols, category: .usStock)
    }

    static func readAccount() async throws -> String {
        let accounts = try await AccountsAPI.listAccounts()
        guard let account = accounts.first else { throw Failure("no account is granted to this user") }
        print("accounts ok \(accounts.map { $0.accountLabel ?? "-" }.joined(separator: ", "))")

        let balance = try await AccountsAPI.getAccountBalance(accountId: account.accountId)
        print("balance ok \(balance.totalCashBalance ?? "-") \(balance.totalAssetCurrency)")
        return account.accountId
    }

    static func placeOrder(accountId: String) async throws {
        let clientOrderId = UUID().uuidString
        let order = PlaceOrderBodyNewOrder(
            clientOrderId: clientOrderId,
            comboType: .normal,
            instrumentType: .equity,
            entrustType: .qty,
            symbol: "AAPL",
            market: .us,
            side: .buy,
            orderType: .limit,
            timeInForce: .gtc,
            // A decimal is text from the user's input to the wire: no digit is lost.
            quantity: "1.50",
            supportTradingSession: .core,
            limitPrice: "20.50"
        )
        do {
            let body = PlaceOrderBody(accountId: accountId, newOrders: [order])
            _ = try await OrdersAPI.placeOrder(placeOrderBody: body)
        } catch let ErrorResponse.error(status, data, response, error) {
            guard let refusal = refusal(in: data), refusal.code == "outcome_unknown" else {
                throw ErrorResponse.error(status, data, response, error)
            }
            // The order may have been placed: it is read, and never sent again unless it is not there.
            print("The answer was lost. \(refusal.findOut ?? "")")
            _ = try await OrdersAPI.getOrder(accountId: accountId, clientOrderId: clientOrderId)
        }
        print("order ok \(clientOrderId)")

        let shown = try await OrdersAPI.getOrder(accountId: accountId, clientOrderId: clientOrderId).orders[0]
        let time = instant(shown.placeTime)
        print("get-order ok \(shown.status), \(shown.totalQuantity ?? "-") shares, \(time)")
    }

    static func readBars() async throws {
        let body = ListStockBarsBody(symbols: ["AAPL"], category: .usStock, timespan: .d, count: 2)
        let bars = try await MarketDataAPI.listStockBars(listStockBarsBody: body).result[0].result
        print("bars ok \(bars.map { "\(instant($0.time)) \($0.close ?? "-")" }.joined(separator: ", "))")
    }

    static func readWhatIsNotGranted() async throws {
        do {
            _ = try await AccountsAPI.getAccountBalance(accountId: "ANOTHER-USERS-ACCOUNT")
            throw Failure("the balance of another user's account was shown")
        } catch let ErrorResponse.error(_, data, _, error) {
            guard let refusal = refusal(in: data) else { throw error }
            // `code` is for programs, `detail` for people.
            print("refusal ok \(refusal.code): \(refusal.detail)")
        }
    }

    static func refusal(in data: Data?) -> Refusal? {
        data.flatMap { try? JSONDecoder().decode(Refusal.self, from: $0) }
    }

    /// A time as the upstream writes it: milliseconds, the same in digits, or ISO 8601 text with +0000.
    static func instant(_ time: JSONValue?) -> Date {
        switch time {
        case .int(let milliseconds):
            return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        case .string(let text):
            if let milliseconds = Double(text) { return Date(timeIntervalSince1970: milliseconds / 1000) }
            let format = ISO8601DateFormatter()
            format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
            return format.date(from: text.replacingOccurrences(of: "+0000", with: "Z")) ?? .distantPast
        default:
            return .distantPast
        }
    }

    /// Foundation writes some names with capitals.
    static func header(_ headers: [String: String], _ name: String) -> String? {
        headers.first { $0.key.lowercased() == name }?.value
    }

    static func env(_ name: String) throws -> String {
        guard let value = ProcessInfo.processInfo.environment[name] else { throw Failure("\(name) is not set") }
        return value
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

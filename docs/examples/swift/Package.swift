// swift-tools-version:6.0

import PackageDescription

let package = Package(
    name: "example-swift",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [
        .package(path: "client"),
        .package(url: "https://github.com/launchdarkly/swift-eventsource.git", from: "3.2.0"),
    ],
    targets: [
        .executableTarget(
            name: "Example",
            dependencies: [.product(name: "OpenAPIClient", package: "client")],
            path: "Sources"
        ),
        .executableTarget(
            name: "Streams",
            dependencies: [.product(name: "LDSwiftEventSource", package: "swift-eventsource")],
            path: "Streams",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ]
)

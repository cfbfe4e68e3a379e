// swift-tools-version:6.0

import PackageDescription

let package = Package(
    name: "example-swift",
    platforms: [.iOS(.v16), .macOS(.v13)],
    dependencies: [.package(path: "client")],
    targets: [
        .executableTarget(
            name: "Example",
            dependencies: [.product(name: "OpenAPIClient", package: "client")],
            path: "Sources"
        ),
    ]
)

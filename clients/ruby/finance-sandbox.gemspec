# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "finance-sandbox"
  spec.version = "0.1.0"
  spec.summary = "Client and test kit of sandbox, a simulator of a financial-infrastructure API"
  spec.authors = ["The sandbox authors"]
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.files = Dir["lib/**/*.rb", "README.md"]
  spec.required_ruby_version = ">= 3.0"
end

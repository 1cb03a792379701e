// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface Erc20 {
  function transferFrom(address from, address to, uint256 value) external;
}

/// Pays on behalf of its caller, as a wallet contract, an exchange or a bridge does.
contract Payer {
  /// Makes an internal transfer, which no transaction to the recipient shows.
  function forward(address payable to) external payable {
    pay(to, msg.value);
  }

  /// Sends the value in equal parts.
  function split(address payable[] calldata to) external payable {
    uint256 part = msg.value / to.length;
    for (uint256 i = 0; i < to.length; i++) pay(to[i], part);
  }

  /// Pays and then takes all of it back.
  function revertAfter(address payable to) external payable {
    pay(to, msg.value);
    revert("not today");
  }

  /// Sends the caller's tokens, the same amount to each recipient; the caller must have approved this.
  function payTokens(address token, address[] calldata to, uint256 value) external {
    for (uint256 i = 0; i < to.length; i++) Erc20(token).transferFrom(msg.sender, to[i], value);
  }

  /// Moves the value without a call: the recipient's code, if it has any, does not run.
  function destroy(address payable to) external payable {
    selfdestruct(to);
  }

  function pay(address payable to, uint256 value) private {
    (bool isPaid, ) = to.call{value: value}("");
    require(isPaid, "not paid");
  }
}

/// The function of Multicall3 that the product calls, and the function that the product calls through it.
contract Multicall {
  struct Call3 {
    address target;
    bool allowFailure;
    bytes callData;
  }
  struct Result {
    bool success;
    bytes returnData;
  }

  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
    results = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      (bool success, bytes memory returned) = calls[i].target.call(calls[i].callData);
      require(success || calls[i].allowFailure, "a call failed");
      results[i] = Result(success, returned);
    }
  }

  function getEthBalance(address account) external view returns (uint256) {
    return account.balance;
  }
}

/// Polygon's native coin as a contract: on Polygon the client emits a LogTransfer for every transfer of value; here the sender asks for it.
contract PolygonCoin {
  event LogTransfer(
    address indexed token,
    address indexed from,
    address indexed to,
    uint256 amount,
    uint256 input1,
    uint256 input2,
    uint256 output1,
    uint256 output2
  );

  function moved(address from, address to, uint256 amount) external {
    emit LogTransfer(address(this), from, to, amount, from.balance + amount, to.balance - amount, from.balance, to.balance);
  }
}

/// The code of a recipient on a test chain, so that a plain payment to it emits the log that Polygon's client would make.
contract PolygonRecipient {
  receive() external payable {
    PolygonCoin(0x0000000000000000000000000000000000001010).moved(msg.sender, address(this), msg.value);
  }
}

/// Pays what the block's miner decides: one transaction, and in another block other amounts, recipients or tokens, or nothing at all.
contract ByMiner {
  struct Move {
    address token;
    address to;
    uint256 value;
  }

  /// Sends the caller's tokens; the caller must have approved this. The miner's address has the number of the effect as a hexadecimal digit,
  /// counted from its last; a number without an effect fails.
  function payByMiner(uint256 digit, Move[][] calldata effects) external {
    Move[] calldata moves = effects[(uint160(address(block.coinbase)) >> (4 * digit)) % 16];
    for (uint256 i = 0; i < moves.length; i++) Erc20(moves[i].token).transferFrom(msg.sender, moves[i].to, moves[i].value);
  }
}
